// The whole way of a change: a branch, a copy, an edit there, a promotion to main, and its deployment, by the public API alone.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, mainBranchId, unique } from '@almanac/testkit/builders';

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

  const { revision } = await user.get<{ revision: string }>(`/promotions/${promotion.id}`);
  expect((await user.send('POST', `/promotions/${promotion.id}/promote`, {})).status).toBe(422);
  const promoted = await user.post(`/promotions/${promotion.id}/promote`, { revision });
  expect(promoted.status).toBe('promoted');
  await deploy(table.id);
  const { record } = await user.post('/table_data', {
    table_definition_id: table.id,
    record: { code: 'DE', capital: 'Berlin' },
  });
  expect(record).toMatchObject({ code: 'DE', capital: 'Berlin' });
});
