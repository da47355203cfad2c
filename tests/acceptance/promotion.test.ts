// The whole way of a change: a branch, a copy, an edit there, a promotion to main, and its deployment; and of a removal that takes an
// approver. By the public API alone.
import { type Api, createApi, type Page } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type Account, givenAccount, mainBranchId, unique } from '@almanac/testkit/builders';

type Made = { id: number };

it('a column drafted on a branch is in service on main once it is promoted and deployed', async () => {
  const account = await givenAccount();
  const user: Api = await account.person();
  const main = await mainBranchId(user);
  const deploy = async (id: number) => {
    const deployment = await user.post<Made>('/deployments', { branch_id: main, table_definition_ids: [id] });
    await user.post(`/deployments/${deployment.id}/deploy`);
  };
  const addColumn = (table_definition_id: number, column_definition: object) =>
    user.post<Made>('/column_definitions', { table_definition_id, column_definition });

  const domain = await user.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const table = await user.post<Made>('/table_definitions', {
    branch_id: main,
    table_definition: { name: `Countries ${unique()}`, domain_id: domain.id },
  });
  await addColumn(table.id, { name: 'code', data_type: 'string', length: 2, is_primary_key: true });
  await deploy(table.id);
  await user.post('/table_data', { table_definition_id: table.id, record: { code: 'CH' } });

  const branch = await user.post<Made>('/branches', { branch: { name: `Work ${unique()}` } });
  const copy = await user.post<Made>(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
  const capital = await addColumn(copy.id, { name: 'capital', data_type: 'string', is_required: true });
  const promotion = await user.post('/promotions', {
    from_branch_id: branch.id,
    to_branch_id: main,
    table_definition_ids: [copy.id],
  });
  expect(promotion).toMatchObject({ status: 'created', conflicts: [], diffs: [{ change: 'modified' }] });

  // The row on main has no capital: data says so before anything is changed.
  const rehearse = () => user.post(`/promotions/${promotion.id}/rehearse`, {});
  expect((await rehearse()).violations).toMatchObject([{ rows: 1 }]);
  await user.patch(`/column_definitions/${capital.id}`, { column_definition: { is_required: false } });
  expect((await rehearse()).violations).toEqual([]);

  // The column is another one than the caller says he was shown: the refusal shows it as it is now, and under which name to promote it.
  const stale = await user.send<{ revision: string; diffs: { columns: unknown[] }[] }>(
    'POST',
    `/promotions/${promotion.id}/promote`,
    { revision: promotion.revision },
  );
  expect(stale).toMatchObject({ status: 422, body: { error: 'Wrong state', conflicts: [] } });
  expect(stale.body.diffs[0]?.columns).toContainEqual(expect.objectContaining({ name: 'capital', change: 'new' }));
  const promoted = await user.post(`/promotions/${promotion.id}/promote`, { revision: stale.body.revision });
  expect(promoted.status).toBe('promoted');
  await deploy(table.id);
  const { record } = await user.post('/table_data', {
    table_definition_id: table.id,
    record: { code: 'DE', capital: 'Berlin' },
  });
  expect(record).toMatchObject({ code: 'DE', capital: 'Berlin' });
});

it('rows edited on a branch are on main once they are promoted: what both changed is asked, the rest is merged', async () => {
  const account = await givenAccount();
  const user: Api = await account.person();
  const main = await mainBranchId(user);
  const deploy = async (branch_id: number, id: number) => {
    const deployment = await user.post<Made>('/deployments', { branch_id, table_definition_ids: [id] });
    await user.post(`/deployments/${deployment.id}/deploy`);
  };
  type Row = { svc_sk: number; code: string; name: string; size: number };
  const rowsOf = async (id: number) =>
    (await user.get<{ data: Row[] }>(`/table_data?table_definition_id=${id}&sort=code`)).data;
  const shown = async (id: number) => (await rowsOf(id)).map(({ code, name, size }) => `${code} ${name} ${size}`);
  const change = async (id: number, code: string, record: object) => {
    const { svc_sk } = (await rowsOf(id)).find((row) => row.code === code) as Row;
    await user.patch(`/table_data/${svc_sk}`, { table_definition_id: id, record });
  };

  const domain = await user.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const table = await user.post<Made & { key: string }>('/table_definitions', {
    branch_id: main,
    table_definition: { name: `Codes ${unique()}`, domain_id: domain.id },
  });
  for (const column_definition of [
    { name: 'code', data_type: 'string', length: 2, is_primary_key: true },
    { name: 'name', data_type: 'string' },
    { name: 'size', data_type: 'integer' },
  ])
    await user.post('/column_definitions', { table_definition_id: table.id, column_definition });
  await deploy(main, table.id);
  for (const [i, code] of ['A', 'B', 'C'].entries())
    await user.post('/table_data', { table_definition_id: table.id, record: { code, name: 'n', size: i } });

  const branch = await user.post<Made>('/branches', { branch: { name: `Work ${unique()}` } });
  const copy = await user.post<Made>(`/table_definitions/${table.id}/clone`, {
    target_branch_id: branch.id,
    include_data: true,
  });
  await deploy(branch.id, copy.id);
  expect(await shown(copy.id)).toEqual(['A n 0', 'B n 1', 'C n 2']);

  await change(copy.id, 'A', { size: 10 });
  await change(table.id, 'A', { name: 'main' });
  await change(copy.id, 'B', { name: 'branch' });
  await change(table.id, 'B', { name: 'main' });
  await user.post('/table_data/delete_records', {
    table_definition_id: copy.id,
    ids: [(await rowsOf(copy.id))[2]?.svc_sk],
  });
  await user.post('/table_data', { table_definition_id: copy.id, record: { code: 'D', name: 'new', size: 4 } });

  const promotion = await user.post<Made>('/promotions', {
    from_branch_id: branch.id,
    to_branch_id: main,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  const asked = { table: table.key, column: 'name', attribute: 'value', row: { code: 'B' } };
  const rehearsed = await user.post(`/promotions/${promotion.id}/rehearse`, {});
  expect(rehearsed).toMatchObject({
    conflicts: [{ ...asked, base: 'n', source: 'branch', target: 'main', resolution: null }],
    conflict_count: 1,
    violations: [],
    rows: [{ table: table.key, created: 1, updated: 1, deleted: 1 }],
  });
  const promote = (resolutions: object[]) => user.send('POST', `/promotions/${promotion.id}/promote`, { resolutions });
  expect((await promote([])).status).toBe(422);
  expect(await shown(table.id)).toEqual(['A main 0', 'B main 1', 'C n 2']);
  const { status, body } = await promote([{ ...asked, resolution: 'source' }]);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { status: 'promoted', rows: [{ table: table.key, created: 1, updated: 2, deleted: 1 }] },
  });
  expect(await shown(table.id)).toEqual(['A main 10', 'B branch 1', 'D new 4']);
  const { svc_sk } = (await rowsOf(table.id))[0] as Row;
  const history = await user.get<{ data: object[] }>(`/table_data/${svc_sk}/history?table_definition_id=${table.id}`);
  expect(history.data[0]).toMatchObject({ channel: 'promotion', action: 'updated', changed_columns: ['size'] });
});

it('a table leaves main by a deployment that somebody else approves, and comes back with its rows', async () => {
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
