// What an import does with its mapping, as it was when the import was made.
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { parquetOf } from '../formats/parquet-files.ts';
import { runImport } from '../given.ts';
import { call, jobs, make, useMappings } from './mappings.ts';

useMappings();

describe('an import with a mapping', () => {
  const file = 'Land;Name of it;Müll\nM1;Mapped;x\n';

  it('uses the named one, the default of the table, or none', async () => {
    const column_mappings = [
      { source_column: 'land', target_column: 'code' },
      { source_column: 'Name of it', target_column: 'name' },
      { source_column: 'Müll', target_column: null },
    ];
    const mapping = await make({ column_mappings, delimiter: ';' });
    const named = await runImport(jobs, { countries: file }, { import_mapping_id: mapping.id });
    expect(named).toMatchObject({ status: 'completed', import_tables: [{ import_mapping_id: mapping.id }] });
    expect(jobs.neighbours.tables[0]?.rows.get('["M1"]')).toEqual({ code: 'M1', name: 'Mapped' });
    expect((await runImport(jobs, { countries: file })).status).toBe('failed');
    await call('PATCH', `/${mapping.id}`, { is_default: true });
    expect((await runImport(jobs, { countries: file })).import_tables[0]).toMatchObject({
      status: 'completed',
      import_mapping_id: mapping.id,
    });
    expect((await runImport(jobs, { countries: file }, { import_mapping_id: null })).status).toBe('failed');
    const { body } = await jobs.call('POST', '/api/v1/imports', { branch_id: 1 });
    const other = { table_definition_key: 'regions', pattern: 'full', import_mapping_id: mapping.id };
    expect((await jobs.call('POST', `/api/v1/imports/${body.id}/tables`, other)).status).toBe(422);
  });
});

describe('an import whose mapping', () => {
  const loadOptions = () => jobs.neighbours.loads.at(-1)?.options;

  it('states the style of the file reads it accordingly', async () => {
    const column_mappings = [
      { source_column: '2', target_column: 'code', trim: true, default: 'none' },
      { source_column: '1', target_column: null },
      { source_column: '3', target_column: 'name', format: 'DD.MM.YYYY' },
    ];
    const style = { decimal_separator: ',', encoding: 'windows-1252', has_header: false, quote: 'none' };
    const { id } = await make({ ...style, date_style: 'DMY', column_mappings });
    const file = Buffer.from('x;P1;5" B\xf6gen\ny;P2;a\n', 'latin1');
    const done = await runImport(jobs, { countries: file }, { import_mapping_id: id });
    expect(done.import_tables[0]).toMatchObject({ status: 'completed', format: 'csv', metrics: { rows_read: 2 } });
    expect(loadOptions()).toMatchObject({
      date_style: 'DMY',
      decimal_separator: ',',
      delimiter: ';',
      quote: '\u0001',
      first_row: 1,
      file_columns: ['1', '2', '3'],
      columns: [
        { position: 1, target_column: 'code', trim: true, default_value: 'none' },
        { position: 2, target_column: 'name', date_format: 'DD.MM.YYYY', trim: false },
      ],
    });
    expect(jobs.neighbours.tables[0]?.rows.get('["P1"]')).toEqual({ code: 'P1', name: '5" Bögen' });
  });

  it('has a decimal separator applies it to text only', async () => {
    const { id } = await make({ decimal_separator: ',' });
    const read = async (file: string) => {
      expect((await runImport(jobs, { countries: file }, { import_mapping_id: id })).status).toBe('completed');
      return loadOptions()?.decimal_separator;
    };
    expect(await read('code\tname\nS1\t1,5\n')).toBe(',');
    expect(await read('[{"code":"S2","name":"1.5"}]')).toBe('');
  });

  it('has a date format leaves real dates as they are', async () => {
    const column_mappings = [{ source_column: 'name', target_column: 'name', format: 'YYYY-DD-MM' }];
    const { id } = await make({ column_mappings });
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    const day = '<row><c t="inlineStr"><is><t>D1</t></is></c><c s="1"><v>45325</v></c></row>';
    const workbook = await workbookOf(textRow('code', 'name') + day + textRow('D2', '2024-02-03'), { styles });
    const days = { type: 'INT32', converted_type: 'DATE', data: [new Date('2024-02-03')] } as const;
    const codes = { type: 'BYTE_ARRAY', converted_type: 'UTF8', data: ['D3'] } as const;
    const parquet = parquetOf({ code: codes, name: days } as never);
    for (const file of [workbook, parquet])
      expect((await runImport(jobs, { countries: file }, { import_mapping_id: id })).status).toBe('completed');
    const rows = jobs.neighbours.tables[0]?.rows;
    expect(['D1', 'D2', 'D3'].map((code) => rows?.get(`["${code}"]`)?.name)).toEqual([
      '2024-02-03T00:00:00.000Z',
      '2024-02-03',
      '2024-02-03T00:00:00.000Z',
    ]);
  });

  it('states that there is no header fills the columns in order, if the numbers agree', async () => {
    const { id } = await make({ has_header: false });
    const done = await runImport(jobs, { countries: 'code,name\nH1,one\n' }, { import_mapping_id: id });
    expect(done.import_tables[0]).toMatchObject({ status: 'completed', metrics: { rows_read: 2 } });
    expect(jobs.neighbours.tables[0]?.rows.get('["code"]')).toEqual({ code: 'code', name: 'name' });
    const wide = await runImport(jobs, { countries: 'a,b,c\n' }, { import_mapping_id: id });
    expect(wide.import_tables[0].errors).toEqual([
      'The file has no header and 3 columns, the table has 2; say in the mapping which goes where.',
    ]);
    const json = await runImport(jobs, { countries: '[{"code":"x"}]' }, { import_mapping_id: id });
    expect(json.import_tables[0].errors).toEqual([expect.stringContaining('can only be CSV or TSV')]);
    const plain = await runImport(jobs, { countries: 'H2,two\nH3,three\n' }, { import_mapping_id: null });
    expect(plain.import_tables[0].errors).toContainEqual(expect.stringContaining('has_header: false'));
  });

  it('no longer fits the table is refused before a file is sent', async () => {
    const changed = jobs.neighbours.addTable({ key: 'changed' });
    const { body } = await call('POST', '', {
      table_definition_id: changed.table_definition_id,
      name: 'old',
      is_default: true,
      column_mappings: [{ source_column: 'n', target_column: 'name' }],
    });
    changed.columns = changed.columns.slice(0, 1);
    const opened = await jobs.call('POST', '/api/v1/imports', { branch_id: 1 });
    const wanted = { table_definition_key: 'changed', pattern: 'full' };
    const refused = await jobs.call('POST', `/api/v1/imports/${opened.body.id}/tables`, wanted);
    expect([body.is_default, refused.status, refused.body.errors]).toEqual([
      true,
      422,
      ['Import mapping old no longer fits: Target column name is not a column of the table'],
    ]);
    const without = { ...wanted, import_mapping_id: null };
    expect((await jobs.call('POST', `/api/v1/imports/${opened.body.id}/tables`, without)).status).toBe(201);
  });
});
