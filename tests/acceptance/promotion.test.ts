// A change from a branch to main, by the public API alone: a branch, a copy, an edit there, a
// promotion, and its deployment.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, mainBranchId, unique } from '@almanac/testkit/system/builders';

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

  // The row on main has no capital: the rehearsal reports it before anything is changed.
  const rehearse = () => user.post(`/promotions/${promotion.id}/rehearse`, {});
  expect((await rehearse()).violations).toMatchObject([{ rows: 1 }]);
  await user.patch(`/column_definitions/${capital.id}`, { column_definition: { is_required: false } });
  expect((await rehearse()).violations).toEqual([]);

  // The column differs from the one the caller says they saw: the refusal shows it as it is now,
  // with the revision to promote it under.
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

it('rows edited on a branch are on main once they are promoted: rows that both changed need a resolution, the rest is merged', async () => {
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
