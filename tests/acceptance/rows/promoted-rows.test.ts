// The rows of a promotion: an approver sees row by row what it would change, and promotes by a
// revision that covers them.
import { givenAccount, givenBranchCopy, givenDeployedTable } from '@almanac/testkit/system/builders';

type Made = { id: number };
type Row = { svc_sk: number; code: string };

it('the rows of a promotion are listed before it, and a revision merges what it has shown', async () => {
  const user = await (await givenAccount()).person();
  const table = await givenDeployedTable(user);
  const rowsOf = async (id: number) =>
    (await user.get<{ data: Row[] }>(`/table_data?table_definition_id=${id}&sort=code`)).data;
  const create = (table_definition_id: number, code: string) =>
    user.post('/table_data', { table_definition_id, record: { code, name: 'n' } });
  const change = async (table_definition_id: number, code: string, name: string) => {
    const row = (await rowsOf(table_definition_id)).find((each) => each.code === code);
    await user.patch(`/table_data/${row?.svc_sk}`, { table_definition_id, record: { name } });
  };
  for (const code of ['A', 'B', 'C']) await create(table.id, code);

  const copy = await givenBranchCopy(user, table.id);
  await change(copy.id, 'A', 'branch');
  await change(copy.id, 'B', 'branch');
  await change(table.id, 'B', 'main');
  const ids = [(await rowsOf(copy.id))[2]?.svc_sk];
  await user.post('/table_data/delete_records', { table_definition_id: copy.id, ids });
  await create(copy.id, 'D');

  const { id } = await user.post<Made>('/promotions', {
    from_branch_id: copy.branchId,
    to_branch_id: table.branchId,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  const { rows, counts } = await user.get<{ rows: object[]; counts: object }>(`/promotions/${id}/rows`);
  const onBoth = { base: { name: 'n' }, source: { name: 'branch' }, target: { name: 'main' } };
  expect(rows).toMatchObject([
    { kind: 'update', key: { code: 'A' }, changed_columns: ['name'], conflict: null },
    { kind: 'update', key: { code: 'B' }, ...onBoth, conflict: { row: false, columns: ['name'] } },
    { kind: 'delete', key: { code: 'C' }, source: null, conflict: null },
    { kind: 'create', key: { code: 'D' }, base: null, source: { name: 'n' }, target: null },
  ]);
  expect(counts).toEqual({
    kinds: { create: 1, update: 2, delete: 1 },
    with_conflict: 1,
    decisions: { undecided: 4, accepted: 0, rejected: 0 },
  });

  const rehearsed = await user.post<{ revision: string }>(`/promotions/${id}/rehearse`, {});
  expect(rehearsed).toMatchObject({ row_counts: { created: 1, updated: 2, deleted: 1, conflicts: 1 } });
  const asked = { table: table.key, column: 'name', attribute: 'value', row: { code: 'B' }, resolution: 'source' };
  const promote = () =>
    user.send('POST', `/promotions/${id}/promote`, { resolutions: [asked], revision: rehearsed.revision });
  await change(copy.id, 'D', 'another');
  expect(await promote()).toMatchObject({ status: 422, body: { error: 'Wrong state' } });
  expect(await rowsOf(table.id)).toHaveLength(3);
  await change(copy.id, 'D', 'n');
  expect(await promote()).toMatchObject({ status: 200, body: { status: 'promoted' } });
  expect(await rowsOf(table.id)).toMatchObject([
    { code: 'A', name: 'branch' },
    { code: 'B', name: 'branch' },
    { code: 'D', name: 'n' },
  ]);
});
