// The removal of a table, which takes an approver, by the public API alone.
import { type Api, createApi, type Page } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type Account, givenAccount, mainBranchId, unique } from '@almanac/testkit/system/builders';

type Made = { id: number };

it('a table leaves main by a deployment that another user approves, and is restored with its rows', async () => {
  const account = await givenAccount();
  const admin: Api = await account.person();
  const main = await mainBranchId(admin);
  const developer = await givenPerson(account, 'Developers');
  const approver = await givenPerson(account, 'main Approvers');
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

async function givenPerson(account: Account, groupName: string): Promise<Api> {
  const admin: Api = await account.person();
  const [email, password] = [`person-${unique()}@example.com`, 'correct horse battery staple'];
  const { id } = await admin.post<Made>('/users', { email, password, license_type: 'developer' });
  const { data } = await admin.get<Page<Made & { name: string }>>('/user_groups?per_page=1000');
  const group = data.find(({ name }) => name === groupName);
  await admin.post('/user_group_assignments', { user_id: id, user_group_id: group?.id });
  const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
  return createApi(account.baseUrl, access_token);
}
