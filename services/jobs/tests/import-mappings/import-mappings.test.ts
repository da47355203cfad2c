import { eventually } from '@almanac/testkit/eventually';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import { badPayloads } from '@almanac/testkit/messaging/bad-payloads';
import { parquetOf } from '../formats/parquet-files.ts';
import { givenJobs, type Jobs, makeMapping, runImport } from '../given.ts';

let jobs: Jobs;
const table = 10;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.addTable({ key: 'regions' });
  jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
  jobs.neighbours.addTable({ key: 'banks' });
});
afterAll(() => jobs.close());

const call = (method: string, path: string, body?: unknown) =>
  jobs.call(method, `/api/v1/import_mappings${path}`, body);
const entry = {
  ...{ target_column: null, format: null, default: null, trim: false, lookup: false },
  ...{ value_map: null, otherwise: 'keep', round: null },
};
const make = (attributes?: Record<string, unknown>) => makeMapping(jobs, table, attributes);

describe('an import mapping', () => {
  it('is created nested, flat and with brackets', async () => {
    const attributes = {
      name: 'From the bank',
      date_style: 'DMY',
      delimiter: ';',
      column_mappings: [
        { source_column: 'Land', target_column: 'CODE', format: null },
        { source_column: 'Seit', target_column: 'name', format: 'DD.MM.YYYY' },
        { source_column: 'Müll', target_column: null },
      ],
    };
    const made = await call('POST', '', { table_definition_id: table, import_mapping: attributes });
    expect(made).toMatchObject({
      status: 201,
      body: {
        table_definition_id: table,
        name: 'From the bank',
        date_style: 'DMY',
        delimiter: ';',
        is_default: false,
        column_mappings: [
          { ...entry, source_column: 'Land', target_column: 'code' },
          { ...entry, source_column: 'Seit', target_column: 'name', format: 'DD.MM.YYYY' },
          { ...entry, source_column: 'Müll', target_column: null },
        ],
      },
    });
    expect((await call('GET', `/${made.body.id}`)).body).toEqual(made.body);
    expect((await call('POST', '', { table_definition_id: table, name: 'flat' })).body).toMatchObject({
      date_style: 'ISO',
      delimiter: null,
      column_mappings: [],
    });
    expect((await call('POST', '', { table_definition_id: table, 'import_mapping[name]': 'brackets' })).status).toBe(
      201,
    );
    expect(
      (await call('POST', '', { import_mapping: { table_definition_id: table, name: 'all nested' } })).status,
    ).toBe(201);
  });

  it('may leave out any number of columns of a wide file', async () => {
    const column_mappings = Array.from({ length: 1_000 }, (_, i) => ({
      source_column: `Column ${i}`,
      target_column: i === 999 ? 'code' : null,
    }));
    expect((await make({ column_mappings })).column_mappings).toHaveLength(1_000);
  });

  it.each([
    [{ name: 'x' }, 400],
    [{ table_definition_id: '10', name: 'x' }, 400],
    [{ table_definition_id: 999, name: 'x' }, 404],
    [{ table_definition_id: 12, name: 'x' }, 404],
    [{ table_definition_id: table }, 422],
    [{ table_definition_id: table, name: ' ' }, 422],
    [{ table_definition_id: table, name: 'x'.repeat(256) }, 422],
    [{ table_definition_id: table, name: 5 }, 400],
    [{ table_definition_id: table, name: 'x', account_id: 2 }, 400],
    [{ table_definition_id: table, name: 'x', date_style: 'YDM' }, 422],
    [{ table_definition_id: table, name: 'x', delimiter: '#' }, 422],
    [{ table_definition_id: table, name: 'x', column_mappings: {} }, 400],
    [{ table_definition_id: table, name: 'x', column_mappings: [{ source_column: 'a', regex: '(a+)+$' }] }, 400],
  ])('is not created by %j', async (body, status) => {
    expect((await call('POST', '', body)).status).toBe(status);
  });

  it('reports every contradiction', async () => {
    const map = (source_column: string, target_column: string, format?: string) => ({
      source_column,
      target_column,
      format,
    });
    const answer = await call('POST', '', {
      table_definition_id: table,
      name: 'wrong',
      column_mappings: [
        map('a', 'svc_sk'),
        map('b', 'unknown'),
        map('c', 'code'),
        map('d', 'Code'),
        map('C', 'name'),
        map(' ', 'svc_transaction_code'),
        map('f', '__proto__', '(a+)+$'),
      ],
    });
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [
        'Target column svc_sk is a system column',
        'Target column unknown is not a column of the table',
        'Target column code is mapped from two columns',
        'Source column C is mapped twice',
        "Source column can't be blank",
        'Target column __proto__ is not a column of the table',
      ],
    ]);
  });

  it('stores the style of files, and reports all problems of it', async () => {
    const style = { decimal_separator: ',', quote: "'", encoding: 'windows-1252', has_header: false };
    const column_mappings = [{ source_column: '2', target_column: 'name', default: 'x', trim: true, lookup: null }];
    const made = await make({ ...style, column_mappings });
    const kept = [{ ...entry, ...column_mappings[0], lookup: false }];
    expect(made).toMatchObject({ ...style, column_mappings: kept });
    expect(await make()).toMatchObject({ decimal_separator: null, quote: null, encoding: null, has_header: true });
    expect((await call('PATCH', `/${made.id}`, { decimal_separator: null })).body).toEqual({
      ...made,
      decimal_separator: null,
      updated_at: expect.any(String),
    });
    const named = await call('PATCH', `/${made.id}`, { column_mappings: [{ source_column: 'Name', trim: true }] });
    expect([named.status, named.body.errors]).toEqual([
      422,
      ['Source column Name must be the place of a column, from 1: the mapping is for files without a header'],
    ]);
    expect((await call('PATCH', `/${made.id}`, { delimiter: ',', decimal_separator: ',' })).body.errors).toEqual([
      "The decimal separator can't be the delimiter",
    ]);
    for (const wrong of [{ decimal_separator: ';' }, { quote: '`' }, { encoding: 'utf-7' }, { has_header: null }])
      expect((await call('PATCH', `/${made.id}`, wrong)).status).toBe(422);
    expect((await call('GET', `/${made.id}`)).body).toMatchObject({ delimiter: null, column_mappings: kept });
  });

  it('looks up only what can be looked up', async () => {
    const column = (name: string, rest = {}) => ({ name, data_type: 'string', is_primary_key: false, ...rest });
    const key = { is_primary_key: true };
    const groups = jobs.neighbours.addTable({ key: 'groups', columns: [column('id', key), column('name')] });
    const pairs = jobs.neighbours.addTable({ key: 'pairs', columns: [column('a', key), column('b', key)] });
    const members = jobs.neighbours.addTable({
      key: 'members',
      columns: [
        column('id', key),
        column('grp', { foreign_key_table_id: groups.table_definition_id }),
        column('pair', { foreign_key_table_id: pairs.table_definition_id }),
        column('away', { foreign_key_table_id: 999 }),
      ],
    });
    const of = (target: string, lookup: unknown, rest = {}) => ({
      table_definition_id: members.table_definition_id,
      name: `${target} by ${lookup}`,
      column_mappings: [{ source_column: target, target_column: target, lookup, ...rest }],
    });
    expect((await call('POST', '', of('grp', true))).body.column_mappings[0].lookup).toBe(true);
    expect((await call('POST', '', of('grp', 'NAME'))).body.column_mappings[0].lookup).toBe('NAME');
    const refusals: [ReturnType<typeof of>, string][] = [
      [of('id', true), 'id is no foreign key; nothing can be looked up for it'],
      [of('pair', true), "pair is part of a foreign key of several columns; it can't be looked up"],
      [of('away', true), 'The table that away refers to is not there'],
      [of('grp', 'colour'), "grp can't be looked up by colour, which is not a column of groups"],
      [of('grp', 'name', { format: 'YYYYMMDD' }), 'grp is looked up by text, which takes no date format'],
    ];
    for (const [body, problem] of refusals) {
      const answer = await call('POST', '', body);
      expect([answer.status, answer.body.errors]).toEqual([422, [problem]]);
    }
    jobs.neighbours.permissions.set(72, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'table_definition', resource_id: members.table_definition_id }],
    });
    const editor = jobs.as({ userId: 72 });
    expect((await editor('POST', '/api/v1/import_mappings', of('grp', true))).status).toBe(403);
    const plain = { ...of('grp', false), name: 'plain' };
    expect((await editor('POST', '/api/v1/import_mappings', plain)).status).toBe(201);
  });

  it('reports what data finds wrong with formats and defaults', async () => {
    jobs.neighbours.sourceProblems.set('name', 'The default for name is too long');
    const column_mappings = [{ source_column: 'n', target_column: 'name', default: 'x' }];
    const answer = await call('POST', '', { table_definition_id: table, name: 'checked', column_mappings });
    jobs.neighbours.sourceProblems.clear();
    expect([answer.status, answer.body.errors]).toEqual([422, ['The default for name is too long']]);
  });

  it('has a unique name in its table, and a table has one default', async () => {
    const first = await make({ is_default: true });
    const taken = await call('POST', '', { table_definition_id: table, name: first.name });
    expect([taken.status, taken.body.errors]).toEqual([422, ['Name has already been taken']]);
    expect((await call('POST', '', { table_definition_id: 11, name: first.name })).status).toBe(201);
    const second = await make({ is_default: true });
    expect((await call('GET', `/${first.id}`)).body.is_default).toBe(false);
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) => call('PATCH', `/${i % 2 ? first.id : second.id}`, { is_default: true })),
      ...Array.from({ length: 4 }, (_, i) =>
        call('POST', '', { table_definition_id: table, name: `default ${i}`, is_default: true }),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), ...Array(4).fill(201)]);
    expect(answers.map(({ body }) => body.is_default)).toEqual(Array(10).fill(true));
    const listed = await call('GET', `?table_definition_id=${table}&q=is_default:eq:true`);
    expect(listed.body.meta.total_count).toBe(1);
    await call('PATCH', `/${listed.body.data[0].id}`, { is_default: false });
  });

  it.each([
    ['Café', 'Cafe\u0301'],
    ['ab', 'AB'],
    ['two  sp', ' two sp'],
    ['\ufb01x', 'fix'],
    ['\u2163', 'IV'],
    ['zero\u200bwidth', 'zerowidth'],
  ])('has a name that people can tell from others: %j, then %j', async (name, same) => {
    const first = await make({ name });
    const taken = await call('POST', '', { table_definition_id: table, name: same });
    expect([taken.status, taken.body.errors]).toEqual([422, ['Name has already been taken']]);
    const other = await make();
    expect((await call('PATCH', `/${other.id}`, { name: same })).status).toBe(422);
    expect((await call('PATCH', `/${first.id}`, { name: same })).body.name).toBe(same);
    expect((await call('POST', '', { table_definition_id: 11, name })).status).toBe(201);
  });

  it('takes a name once, however many requests compete for it', async () => {
    const spellings = ['once', 'Once', 'ONCE', 'on\u00adce', 'ｏｎｃｅ'];
    const answers = await Promise.all(spellings.map((name) => call('POST', '', { table_definition_id: table, name })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422]);
  });

  it('with a duplicate name of an earlier release stays, and can be changed', async () => {
    const mappings = jobs.context.prisma.import_mapping;
    const mine = { account_id: 1, table_definition_id: 11 };
    const one = await mappings.create({ data: { ...mine, name: 'Twin' } });
    await mappings.create({ data: { ...mine, name: 'twin' } });
    expect((await call('PATCH', `/${one.id}`, { name: 'Twin', date_style: 'DMY' })).body.date_style).toBe('DMY');
    expect((await call('PATCH', `/${one.id}`, { name: 'TWIN' })).status).toBe(422);
  });

  it('changes only the given attributes', async () => {
    const made = await make({ delimiter: '|', column_mappings: [{ source_column: 'a', target_column: 'code' }] });
    const changed = await call('PATCH', `/${made.id}`, { import_mapping: { date_style: 'MDY' } });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made, date_style: 'MDY', updated_at: expect.any(String) },
    });
    expect((await call('PATCH', `/${made.id}`, { delimiter: null })).body.delimiter).toBeNull();
    expect((await call('PATCH', `/${made.id}`, { name: 'm1' })).status).toBe(made.name === 'm1' ? 200 : 422);
    expect((await call('PATCH', `/${made.id}`, { name: null })).status).toBe(422);
    for (const body of [{ id: 5 }, { table_definition_id: 11 }, { created_at: '2026-01-01' }])
      expect((await call('PATCH', `/${made.id}`, body)).status).toBe(400);
  });

  it('is listed with pages and searched by name, within its account', async () => {
    await make({ name: 'needle_100%' });
    const found = await call('GET', `?q=${encodeURIComponent('needle_100%')}`);
    expect(found.body.data.map(({ name }: { name: string }) => name)).toEqual(['needle_100%']);
    expect((await jobs.as({ accountId: 2 })('GET', '/api/v1/import_mappings')).body.data).toEqual([]);
    expect((await call('GET', '?table_definition_id=0')).status).toBe(400);
  });

  it('names its table by key and branch as well', async () => {
    const named = { table_definition_key: 'countries', branch_id: 1 };
    const made = await call('POST', '', { ...named, import_mapping: { name: 'by key' } });
    expect(made).toMatchObject({ status: 201, body: { table_definition_id: table, name: 'by key' } });
    const both = { ...named, table_definition_id: table };
    expect((await call('POST', '', { ...both, import_mapping: { name: 'by both' } })).status).toBe(201);
    const search = (given: object) => call('GET', `?per_page=1000&${new URLSearchParams(given as never)}`);
    const listed = await search({ table_definition_id: table });
    expect(listed.body.data.length).toBeGreaterThan(1);
    for (const given of [named, both]) expect((await search(given)).body).toEqual(listed.body);
    for (const unknown of [
      { ...named, branch_id: 2 },
      { ...named, table_definition_key: 'foreign', branch_id: 3 },
    ]) {
      expect((await search(unknown)).body.data).toEqual([]);
      const refused = await call('POST', '', { ...unknown, name: 'x' });
      expect(refused.body).toEqual((await call('POST', '', { table_definition_id: 999_999, name: 'x' })).body);
      expect(refused.status).toBe(404);
    }
    for (const wrong of [
      { table_definition_key: 'countries' },
      { ...both, table_definition_key: 'regions' },
      { branch_id: 1 },
    ]) {
      expect((await search(wrong)).status).toBe(400);
      expect((await call('POST', '', { ...wrong, name: 'x' })).status).toBe(400);
      expect((await call('POST', '/suggest', { ...wrong, sample: 'a\nb\n' })).status).toBe(400);
    }
    const suggested = await call('POST', '/suggest', { ...named, sample: 'code\nDE\n' });
    expect(suggested.body.import_mapping.table_definition_id).toBe(table);
    jobs.neighbours.permissions.set(72, { license_type: 'end_user', permissions: [] });
    const outsider = jobs.as({ userId: 72 });
    // The key of a table is shown with the right to it.
    for (const table_definition_key of ['countries', 'regions']) {
      const given = { ...both, table_definition_key };
      expect((await outsider('POST', '/api/v1/import_mappings', { ...given, name: 'x' })).status).toBe(403);
      const seen = await outsider('GET', `/api/v1/import_mappings?${new URLSearchParams(given as never)}`);
      expect([seen.status, seen.body.data]).toEqual([200, []]);
    }
  });

  it('of another account is not found', async () => {
    const made = await make();
    const other = jobs.as({ accountId: 2 });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'mine' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await other(method, `/api/v1/import_mappings/${made.id}`, body);
      const unknown = await other(method, '/api/v1/import_mappings/999999', body);
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    }
    expect((await call('GET', `/${made.id}`)).status).toBe(200);
  });

  it('needs the right to edit the table', async () => {
    const made = await make();
    jobs.neighbours.permissions.set(71, {
      license_type: 'end_user',
      permissions: [{ action: 'view', resource_type: 'account', resource_id: 1 }],
    });
    const viewer = jobs.as({ userId: 71 });
    expect((await viewer('GET', `/api/v1/import_mappings/${made.id}`)).status).toBe(200);
    expect((await viewer('POST', '/api/v1/import_mappings', { table_definition_id: table })).status).toBe(403);
    expect((await viewer('PATCH', `/api/v1/import_mappings/${made.id}`, { name: '' })).status).toBe(403);
    expect((await viewer('DELETE', `/api/v1/import_mappings/${made.id}`)).status).toBe(403);
  });

  it('is deleted, also after its table was removed', async () => {
    const made = await make();
    const removed = jobs.neighbours.addTable({ key: 'removed' });
    const orphan = await call('POST', '', { table_definition_id: removed.table_definition_id, name: 'orphan' });
    jobs.neighbours.tables.splice(jobs.neighbours.tables.indexOf(removed), 1);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(204);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(404);
    expect((await call('DELETE', `/${orphan.body.id}`)).status).toBe(204);
  });

  it('refuses a body above 256 kB', async () => {
    const body = (size: number) => {
      const empty = JSON.stringify({ table_definition_id: table, name: '' });
      return JSON.stringify({ table_definition_id: table, name: 'x'.repeat(size - empty.length) });
    };
    const send = (size: number) =>
      jobs.send('POST', '/api/v1/import_mappings', body(size), { 'content-type': 'application/json' });
    expect((await send(256 * 1024)).status).toBe(422);
    expect((await send(256 * 1024 + 1)).status).toBe(413);
  });
});

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

describe('a cloned definition', () => {
  const cloned = 'metadata.table_definition.cloned';
  const mappingsOf = async (id: number) => (await call('GET', `?table_definition_id=${id}`)).body.data;

  it('gets the mappings of its source, once, and keeps its own', async () => {
    const [source, clone, next] = [13, 900, 901];
    const style = { delimiter: ';', decimal_separator: ',', has_header: false, quote: 'none', encoding: 'utf-8' };
    const column_mappings = [{ ...entry, source_column: '1', target_column: 'code', trim: true, default: 'x' }];
    await make({ table_definition_id: source, name: 'Bank', is_default: true, ...style, column_mappings });
    await make({ table_definition_id: source, name: 'OTHER', date_style: 'DMY' });
    const made = jobs.context.prisma.import_mapping;
    await made.create({ data: { account_id: 1, table_definition_id: clone, name: 'Other', is_default: true } });

    const payload = { account_id: 1, table_definition_id: clone, branch_id: 5, source_id: source };
    const message = await jobs.announce(cloned, payload);
    await jobs.announce(cloned, payload, message);
    await jobs.announce(cloned, { ...payload, account_id: 2, table_definition_id: next });
    await jobs.announce(cloned, { ...payload, table_definition_id: next });
    await eventually(async () => expect(await mappingsOf(next)).toHaveLength(2));
    expect(await mappingsOf(next)).toMatchObject([
      { name: 'Bank', is_default: true, ...style, date_style: 'ISO', column_mappings },
      { name: 'OTHER', is_default: false, date_style: 'DMY', column_mappings: [] },
    ]);
    await eventually(async () => expect(await mappingsOf(clone)).toHaveLength(2));
    expect(await mappingsOf(clone)).toMatchObject([
      { name: 'Other', is_default: true, date_style: 'ISO' },
      { name: 'Bank', is_default: false, delimiter: ';' },
    ]);
    expect(await made.count({ where: { account_id: 2 } })).toBe(0);
  });
});

describe('a malformed event', () => {
  it.each([
    ['jobs.cloned_definitions', 'metadata.table_definition.cloned'],
    ['jobs.deployed_tables', 'metadata.table_definition.deployed'],
    ['jobs.mail', 'metadata.mail.requested'],
  ])('becomes a dead letter of %s at once', async (queue, type) => {
    const before = await jobs.deadLetters(queue);
    for (const payload of badPayloads) await jobs.announce(type, payload);
    await eventually(async () => expect(await jobs.deadLetters(queue)).toBe(before + badPayloads.length));
    const source_id = jobs.neighbours.addTable({ key: queue }).table_definition_id;
    await make({ table_definition_id: source_id, name: `Of ${queue}` });
    const payload = { account_id: 1, source_id, table_definition_id: 951 };
    await jobs.announce('metadata.table_definition.cloned', payload);
    await eventually(async () =>
      expect((await call('GET', '?table_definition_id=951')).body.data).toContainEqual(
        expect.objectContaining({ name: `Of ${queue}` }),
      ),
    );
  });
});
