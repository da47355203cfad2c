// The removal of a table, which takes an approver, by the public API alone.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, givenColleague, mainBranchId, unique } from '@almanac/testkit/system/builders';

type Made = { id: number };

it('a table leaves main by a deployment that another user approves, and is restored with its rows', async () => {
  const account = await givenAccount();
  const admin: Api = await account.person();
  const main = await mainBranchId(admin);
  const developer = (await givenColleague(account, 'Developers')).api;
  const approver = (await givenColleague(account, 'main Approvers')).api;
  const domain = await admin.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const table = await developer.post<Made>('/table_definitions', {
    branch_id: main,
    table_definition: { name: `Countries ${unique()}`, domain_id: domain.id },
  });
  const column_definition = { name: 'code', data_type: 'string', length: 2, is_primary_key: true };
  await developer.post('/column_definitions', { table_definition_id: table.id, column_definition });
  const propose = (change: object) => developer.post<Made>('/deployments', { branch_id: main, ...change });
  const first = await propose({ table_definition_ids: [table.id] });
  await approver.post(`/deployments/${first.id}/deploy`);
  await admin.post('/table_data', { table_definition_id: table.id, record: { code: 'CH' } });

  const statusOf = async (user: Api, method: string, path: string) => (await user.send(method, path)).status;
  expect(await statusOf(developer, 'POST', `/table_definitions/${table.id}/remove`)).toBe(403);
  const removal = await propose({ table_definition_ids: [], remove_table_definition_ids: [table.id] });
  expect(removal).toMatchObject({ diffs: [{ change: 'deleted', warnings: [{ rows: 1 }], blockers: [] }] });
  expect(await statusOf(developer, 'POST', `/deployments/${removal.id}/deploy`)).toBe(403);
  expect(await approver.post(`/deployments/${removal.id}/deploy`)).toMatchObject({ status: 'deployed' });
  const rows = `/table_data?table_definition_id=${table.id}`;
  expect(await statusOf(admin, 'GET', rows)).toBe(404);
  expect(await statusOf(admin, 'GET', `/table_definitions/${table.id}`)).toBe(404);

  await admin.post(`/table_definitions/${table.id}/restore`);
  expect(await admin.get(rows)).toMatchObject({ data: [{ code: 'CH' }] });
});
