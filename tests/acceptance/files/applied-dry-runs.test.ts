// A file for a table whose changes are proposed, by the public API: tried, compared with the table,
// applied as a change request by a steward, approved by another person. And one loaded after its
// dry run.
import { type Api, poll, upload } from '@almanac/api-client/api';
import {
  type Account,
  type Colleague,
  type DeployedTable,
  givenAccount,
  givenColleague,
  givenDeployedTable,
} from '@almanac/testkit/system/builders';

type Made = { id: number };
type Import = { id: number; status: string; import_tables: { id: number; applied_as: string | null }[] };

let account: Account;
let admin: Api;
let table: DeployedTable;
let steward: Colleague;
let approver: Colleague;

beforeAll(async () => {
  account = await givenAccount();
  admin = await account.person();
  table = await givenDeployedTable(admin);
  for (const code of ['A', 'B', 'C']) {
    const record = { code, name: `Place ${code}` };
    await admin.post('/table_data', { table_definition_id: table.id, record });
  }
  steward = await givenColleague(account, 'Data Managers');
  approver = await givenColleague(account, 'main Approvers');
}, 120_000);

const ended = (api: Api, id: number) =>
  poll(
    () => api.get<Import>(`/imports/${id}`),
    ({ status }) => /^(completed|completed_with_errors|failed|cancelled)$/.test(status),
  );

/** Tries a file; answers the path of its import table, and its id. */
async function tried(api: Api, file: string) {
  const { id } = await api.post<Made>('/imports', { branch_id: table.branchId });
  const options = { pattern: 'full', dry_run: true };
  const made = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, ...options });
  await upload(made.upload_url, file);
  await api.post(`/imports/${id}/upload_complete`);
  expect(await ended(api, id)).toMatchObject({ status: 'completed' });
  return { importId: id, id: made.id as number, path: `/imports/${id}/tables/${made.id}` };
}

const shown = async () => {
  const { data } = await steward.api.get(`/table_data?table_definition_id=${table.id}&sort=code&per_page=100`);
  return data.map(({ code, name }: Record<string, unknown>) => `${code} ${name}`);
};

const differences = { startRow: 0, endRow: 100 };

it('a file is tried, compared, proposed, approved and in the table', async () => {
  await admin.patch(`/branches/${table.branchId}`, { branch: { row_changes: 'request' } });
  const direct = await steward.api.post<Made>('/imports', { branch_id: table.branchId });
  const loaded = { table_definition_id: table.id, pattern: 'full' };
  expect(await steward.api.send('POST', `/imports/${direct.id}/tables`, loaded)).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'proposals_only' }] },
  });

  const dry = await tried(steward.api, 'code,name\nA,Place A\nB,Brücke\nD,Damm\n');
  const expected = [
    { kind: 'updated', key: { code: 'B' }, cells: { name: { from: 'Place B', to: 'Brücke' } } },
    { kind: 'deleted', key: { code: 'C' } },
    { kind: 'created', key: { code: 'D' } },
  ];
  const named = { table_definition_id: table.id, ...differences };
  const after = await steward.api.post('/table_data/diff', { ...named, right: { import_table_id: dry.id } });
  expect(after).toMatchObject({ rows: expected, counts: { created: 1, updated: 1, deleted: 1 } });
  expect(await steward.api.send('POST', `${dry.path}/apply`, { as: 'rows' })).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'proposals_only' }] },
  });

  const applied = await steward.api.post(`${dry.path}/apply`, {
    ...{ as: 'change_request', title: 'New places', description: 'From the survey' },
  });
  expect(applied).toMatchObject({ applied_as: 'change_request', dry_run: true });
  const id = applied.change_request_id as number;
  expect((await steward.api.send('POST', `${dry.path}/apply`, { as: 'change_request' })).status).toBe(422);
  const { data: concerned } = await steward.api.get(`/change_requests?table_definition_id=${table.id}`);
  expect(concerned.map((request: Made) => request.id)).toEqual([id]);
  const right = { change_request_id: id };
  expect((await steward.api.post('/table_data/diff', { ...named, right })).rows).toMatchObject(expected);
  await steward.api.post(`/change_requests/${id}/send_request`, {});
  // Who approves on the branch compares what is under review without a right on the table.
  expect((await approver.api.post('/table_data/diff', { ...named, right })).rows).toMatchObject(expected);
  const { revision, title, description, counts } = await approver.api.get(`/change_requests/${id}`);
  expect({ title, description, counts }).toMatchObject({
    ...{ title: 'New places', description: 'From the survey' },
    counts: { operations: 3, with_problems: 0 },
  });
  expect(await approver.api.post(`/change_requests/${id}/apply`, { revision })).toMatchObject({ status: 'applied' });
  expect(await shown()).toEqual(['A Place A', 'B Brücke', 'D Damm']);
}, 120_000);

it('a file is tried and then loaded, without another upload', async () => {
  await admin.patch(`/branches/${table.branchId}`, { branch: { row_changes: 'direct' } });
  const dry = await tried(steward.api, 'code,name\nA,Anlage\nB,Brücke\nE,Ecke\n');
  expect(await steward.api.post(`${dry.path}/apply`, { as: 'rows' })).toMatchObject({
    ...{ status: 'uploaded', applied_as: 'rows', dry_run: false },
  });
  expect(await ended(steward.api, dry.importId)).toMatchObject({
    status: 'completed',
    import_tables: [{ metrics: { inserted: 1, updated: 1, deleted: 1 } }],
  });
  expect(await shown()).toEqual(['A Anlage', 'B Brücke', 'E Ecke']);
}, 120_000);
