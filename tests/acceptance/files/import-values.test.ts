// Files as other systems write them, through the whole system: how a mapping reads their values,
// and what is reported of rows that can't be loaded.
import type { Api } from '@almanac/api-client/api';
import {
  type Column,
  type DeployedTable,
  givenAccount,
  givenDeployedTable,
  importFile,
} from '@almanac/testkit/system/builders';

const columns: Column[] = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
  { name: 'blocked', data_type: 'boolean' },
  { name: 'price', data_type: 'decimal', length: 10, scale: 2 },
  { name: 'since', data_type: 'date' },
];

let api: Api;
let table: DeployedTable;

beforeAll(async () => {
  api = await (await givenAccount()).person();
  table = await givenDeployedTable(api, { columns });
}, 300_000);

const imported = (file: string, options: object, into: Pick<DeployedTable, 'id' | 'branchId'> = table) =>
  importFile(api, into, { pattern: 'incremental', on_error: 'reject_rows', ...options }, file);

const rowsOf = async () =>
  (await api.get(`/table_data?table_definition_id=${table.id}&sort=code`)).data.map((row: Record<string, unknown>) =>
    [row.code, row.blocked, row.price, row.since].join('|'),
  );

it('reads what cells stand for, rounds, and rejects ragged lines in the words of the file', async () => {
  const mapping = await api.post('/import_mappings', {
    table_definition_id: table.id,
    name: 'From SAP',
    decimal_separator: ',',
    column_mappings: [
      { source_column: 'MATNR', target_column: 'code', trim: true },
      { source_column: 'LVORM', target_column: 'blocked', value_map: { X: 'true', '': 'false' }, otherwise: 'reject' },
      { source_column: 'STPRS', target_column: 'price', round: 2 },
      { source_column: 'ERSDA', target_column: 'since', format: 'DD.MM.YYYY' },
    ],
  });
  const file = [
    'MATNR;LVORM;STPRS;ERSDA',
    ' M1 ;X;1.234,565;31.01.2024',
    'M2;;0,1;',
    'M3;Y;1;01.02.2024',
    'M4;X;1',
    'M5;X;1;2024',
    'M6;X;1;01.02.2024;too many',
  ].join('\r\n');
  const loaded = await imported(file, { import_mapping_id: mapping.id });
  expect(loaded).toMatchObject({
    status: 'completed_with_errors',
    metrics: { rows_read: 6, inserted: 2, rejected: 4 },
  });
  expect(loaded.rejections).toEqual([
    {
      row: 4,
      column: 'blocked',
      value: 'Y',
      message: expect.stringMatching(/^blocked must be one of .*\(value_map\)$/),
    },
    { row: 5, column: '', value: 'M4;X;1', message: 'The row has 3 cells, the header has 4.' },
    { row: 6, column: 'since', value: '2024', message: 'since must be a date, DD.MM.YYYY' },
    { row: 7, column: '', value: 'M6;X;1;01.02.2024;too many', message: 'The row has 5 cells, the header has 4.' },
  ]);
  expect(await rowsOf()).toEqual(['M1|true|1234.57|2024-01-31', 'M2|false|0.1|']);
  const whole = await imported(file, { import_mapping_id: mapping.id, on_error: 'reject_file' });
  expect(whole).toMatchObject({ status: 'failed', errors: [expect.stringContaining('Line 5 of the file')] });
});

it('reads dates in the account’s style when no mapping names another', async () => {
  const file = 'code,since\nD1,03/04/2024\n';
  expect(await imported(file, { import_mapping_id: null })).toMatchObject({ metrics: { rejected: 1 } });
  await api.patch('/account', { date_style: 'DMY' });
  expect(await imported(file, { import_mapping_id: null })).toMatchObject({ metrics: { inserted: 1 } });
  expect(await rowsOf()).toContain('D1|||2024-04-03');
});

it('reports causes before the rows that follow from them', async () => {
  const [code] = columns;
  const tree = await givenDeployedTable(api, { columns: [code as Column] });
  const parent = { name: 'parent', data_type: 'string', length: 10, foreign_key_table_id: tree.id };
  await api.post('/column_definitions', { table_definition_id: tree.id, column_definition: parent });
  const wish = { branch_id: tree.branchId, table_definition_ids: [tree.id] };
  const { id } = await api.post('/deployments', wish);
  await api.post(`/deployments/${id}/deploy`);
  const loaded = await imported('code,parent\nc,b\nb,a\na,missing\nd,\n', { import_mapping_id: null }, tree);
  expect(loaded).toMatchObject({ status: 'completed_with_errors', metrics: { inserted: 1, rejected: 3 } });
  const must = 'parent must refer to a record of the referenced table';
  const follows = { column: 'parent', message: `${must}; that of the file is rejected because of row 4`, cause_row: 4 };
  expect(loaded.rejections).toEqual([
    { row: 4, column: 'parent', value: 'missing', message: `${must} (and 2 rows that refer to it)`, consequences: 2 },
    { row: 2, value: 'b', ...follows },
    { row: 3, value: 'a', ...follows },
  ]);
});
