// How far a branch is ahead of its parent and behind it, by the public API alone: rows that both
// changed, and what a promotion leaves of it.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, givenBranchCopy, givenDeployedTable } from '@almanac/testkit/system/builders';

type Made = { id: number };
type Row = { svc_sk: number; code: string; name: string };

it('a branch is ahead by the rows changed on it, behind by those of its parent, and no longer ahead once they are promoted', async () => {
  const user: Api = await (await givenAccount()).person();
  const table = await givenDeployedTable(user);
  for (const code of ['A', 'B', 'C'])
    await user.post('/table_data', { table_definition_id: table.id, record: { code, name: 'n' } });
  const copy = await givenBranchCopy(user, table.id);
  const divergence = () => user.get(`/branches/${copy.branchId}/divergence`);
  const none = { tables: 0, rows: 0 };
  expect(await divergence()).toMatchObject({ ahead: none, behind: none });

  const rename = async (id: number, code: string, name: string) => {
    const { data } = await user.get<{ data: Row[] }>(`/table_data?table_definition_id=${id}&sort=code`);
    const { svc_sk } = data.find((row) => row.code === code) as Row;
    await user.patch(`/table_data/${svc_sk}`, { table_definition_id: id, record: { name } });
  };
  await rename(copy.id, 'A', 'branch');
  await rename(table.id, 'B', 'main');
  await user.post('/table_data', { table_definition_id: copy.id, record: { code: 'D', name: 'new' } });
  expect(await divergence()).toMatchObject({ ahead: { tables: 1, rows: 2 }, behind: { tables: 1, rows: 1 } });

  const promotion = await user.post<Made>('/promotions', {
    from_branch_id: copy.branchId,
    to_branch_id: table.branchId,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  await user.post(`/promotions/${promotion.id}/promote`, {});
  expect(await divergence()).toMatchObject({ ahead: none, behind: { tables: 1, rows: 1 } });
});
