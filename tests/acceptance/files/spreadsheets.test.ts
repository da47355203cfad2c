// Spreadsheets from end to end: a workbook for editing changes the edited cells and no others.
import type { Api } from '@almanac/api-client/api';
import { textRow, workbookOf } from '@almanac/testkit/files/workbooks';
import {
  type DeployedTable,
  exportFile,
  givenAccount,
  givenDeployedTable,
  importFile,
} from '@almanac/testkit/system/builders';

let api: Api;
let table: DeployedTable;

type Row = { svc_sk: number; code: string; name: string | null; size: number | null; grp: string | null };

const rowsOf = async () =>
  (await api.get<{ data: Row[] }>(`/table_data?table_definition_id=${table.id}&sort=code&per_page=100`)).data;
const create = (id: number, records: object[]) => {
  const operations = records.map((record) => ({ operation: 'create', record }));
  return api.post('/table_data/batch', { table_definition_id: id, operations });
};
const wanted = () => ({ branch_id: table.branchId, table_definition_key: table.key, pattern: 'full', format: 'xlsx' });

beforeAll(async () => {
  api = await (await givenAccount({ plan: 'enterprise' })).person();
  const groups = await givenDeployedTable(api, {
    columns: [{ name: 'id', data_type: 'string', length: 5, is_primary_key: true }],
  });
  await create(groups.id, [{ id: 'A' }, { id: '007' }]);
  table = await givenDeployedTable(api, {
    columns: [
      { name: 'code', data_type: 'string', length: 5, is_primary_key: true },
      { name: 'name', data_type: 'string', length: 50 },
      { name: 'size', data_type: 'integer', valid_values: '1|2|3' },
      { name: 'grp', data_type: 'string', length: 5, foreign_key_table_id: groups.id },
    ],
  });
});
beforeEach(async () => {
  const ids = (await rowsOf()).map(({ svc_sk }) => svc_sk);
  if (ids.length > 0) await api.post('/table_data/delete_records', { table_definition_id: table.id, ids });
  await create(table.id, [
    { code: 'AT', name: 'Austria', size: 1, grp: 'A' },
    { code: 'BE', name: '=1+1', size: 2, grp: '007' },
    { code: 'CH', name: null, size: null, grp: null },
  ]);
});

async function exported(): Promise<Uint8Array> {
  const { done, file } = await exportFile(api, table, { pattern: 'full', format: 'xlsx', for_editing: true });
  expect(done).toMatchObject({ for_editing: true, rows_exported: 3, error: null });
  return file;
}

const imported = (file: Uint8Array, pattern = 'incremental') =>
  importFile(api, table, { pattern, on_error: 'reject_rows' }, file);

const cell = (xml: string) => `</c>${xml}</row>`;
const header = textRow('svc_sk', 'svc_version', 'code', 'name', 'size', 'grp');

describe('a workbook for editing', () => {
  it('changes nothing when it is imported unedited', async () => {
    const file = await exported();
    for (const pattern of ['incremental', 'full'])
      expect(await imported(file, pattern)).toMatchObject({
        status: 'completed',
        metrics: { unchanged: 3, inserted: 0, updated: 0, deleted: 0, rejected: 0 },
      });
  });

  it('changes what was edited, adds new rows, and overwrites no row that changed after the export', async () => {
    const [at, be, ch] = (await rowsOf()).map(({ svc_sk }) => String(svc_sk)) as [string, string, string];
    await api.patch(`/table_data/${at}`, { table_definition_id: table.id, record: { size: 3 } });
    const rows = [
      textRow(at, '1', 'AT', 'Mine', '1', 'A'),
      textRow(be, '1', 'BE', 'Belgium', '2', '007'),
      textRow(ch, '1', 'CH').replace('</c></row>', cell('<c r="F4" t="inlineStr"><is><t>A</t></is></c>')),
      textRow('', '', 'DE', 'Germany', '3', 'A'),
    ];
    const done = await imported(await workbookOf(header + rows.join('')));
    expect(done).toMatchObject({
      status: 'completed_with_errors',
      metrics: { inserted: 1, updated: 2, unchanged: 0, rejected: 1 },
      rejections: [
        { row: 2, column: 'svc_version', message: expect.stringContaining('changed after the file was made') },
      ],
    });
    expect((await rowsOf()).map(({ code, name, size, grp }) => [code, name, size, grp])).toEqual([
      ['AT', 'Austria', 3, 'A'],
      ['BE', 'Belgium', 2, '007'],
      ['CH', null, null, 'A'],
      ['DE', 'Germany', 3, 'A'],
    ]);
  });

  it.each([
    ['another format', { format: 'csv' }, 'An export for editing has the format xlsx'],
    ['changes alone', { pattern: 'incremental', high_water_mark: '2026-01-01T00:00:00Z' }, 'has the pattern full'],
  ])('is refused with %s', async (_what, other, problem) => {
    const refused = await api.send('POST', '/exports', { ...wanted(), for_editing: true, ...other });
    expect(refused).toMatchObject({ status: 422, body: { errors: [expect.stringContaining(problem)] } });
  });
});

it('a formula without a stored result and an error reject their rows; the rejections name the cells', async () => {
  const rows = [
    textRow('DE', 'Germany'),
    textRow('FR').replace(cell(''), cell('<c><f>"Fr"&amp;"ance"</f><v></v></c>')),
    textRow('GB').replace(cell(''), cell('<c t="e"><v>#N/A</v></c>')),
    '<row><c><f>A2</f><v></v></c></row>',
  ];
  const done = await imported(await workbookOf(textRow('code', 'name') + rows.join('')));
  expect(done).toMatchObject({ status: 'completed_with_errors', metrics: { inserted: 1, rejected: 3 } });
  const unstored = (address: string) => expect.stringContaining(`${address} is a formula without a stored result`);
  expect(
    done.rejections.slice(0, 3).map(({ row, message }: { row: number; message: string }) => [row, message]),
  ).toEqual([
    [3, unstored('B3')],
    [4, 'B4 shows the error #N/A: mend the cell, or empty it'],
    [5, unstored('A5')],
  ]);
});
