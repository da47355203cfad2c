// Changes to a table are proposed, by the public API: from the answer on nothing else writes its
// rows but promotions and imports of applications.
import type { Api } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable, importFile } from '@almanac/testkit/system/builders';

type Policy = { row_changes: string; in_force: boolean };

let admin: Api;
let machine: Api;
let table: DeployedTable;

beforeAll(async () => {
  const account = await givenAccount();
  admin = await account.person();
  machine = await account.machine();
  table = await givenDeployedTable(admin);
});

const creation = (code: string) => {
  const body = { table_definition_id: table.id, record: { code, name: code } };
  return admin.send<{ problems: { code: string }[] }>('POST', '/table_data', body);
};
const setPolicy = (table_definition: object) =>
  admin.patch<{ row_policy: Policy }>(`/table_definitions/${table.id}`, { table_definition });

it('a policy of a table or its branch stops writes at once, and is lifted at once', async () => {
  expect((await creation('A')).status).toBe(201);
  expect(await setPolicy({ row_changes: 'request' })).toMatchObject({
    row_policy: { row_changes: 'request', in_force: true },
  });
  expect(await creation('B')).toMatchObject({ status: 422, body: { problems: [{ code: 'proposals_only' }] } });
  await setPolicy({ row_changes: null });
  expect((await creation('B')).status).toBe(201);

  const branch = { row_changes: 'request', machine_imports: true };
  expect(await admin.patch(`/branches/${table.branchId}`, { branch })).toMatchObject({ row_policy_in_force: true });
  expect((await creation('C')).status).toBe(422);
  const imported = await admin.post<{ id: number }>('/imports', { branch_id: table.branchId });
  const byPerson = { table_definition_id: table.id, pattern: 'incremental' };
  expect(await admin.send('POST', `/imports/${imported.id}/tables`, byPerson)).toMatchObject({
    status: 422,
    body: { errors: [expect.stringContaining('Changes to this table are proposed')] },
  });
  expect(await importFile(machine, table, { pattern: 'incremental' }, 'code,name\nE,Echo\n')).toMatchObject({
    status: 'completed',
  });
  await admin.patch(`/branches/${table.branchId}`, { branch: { row_changes: 'direct' } });
  expect((await creation('C')).status).toBe(201);
});
