// A hierarchy from declaration to promotion, by the public API alone: deployed, and held by
// records, imports and promotions.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, importFile, mainBranchId, unique } from '@almanac/testkit/system/builders';

type Made = { id: number };
type Row = { svc_sk: number; code: string; parent_code: string | null };

it('no record of a hierarchy leads back to itself, whichever way it is written', async () => {
  const account = await givenAccount();
  const user: Api = await account.person();
  const main = await mainBranchId(user);
  const propose = (branch_id: number, id: number) =>
    user.post('/deployments', { branch_id, table_definition_ids: [id] });
  const deploy = async (branch_id: number, id: number) => {
    await user.post(`/deployments/${(await propose(branch_id, id)).id}/deploy`);
  };
  const rowsOf = async (id: number) =>
    (await user.get<{ data: Row[] }>(`/table_data?table_definition_id=${id}&sort=code`)).data;
  const edges = async (id: number) => (await rowsOf(id)).map(({ code, parent_code }) => `${code}>${parent_code ?? ''}`);
  const move = async (id: number, code: string, parent_code: string | null) => {
    const { svc_sk } = (await rowsOf(id)).find((row) => row.code === code) as Row;
    return user.send('PATCH', `/table_data/${svc_sk}`, { table_definition_id: id, record: { parent_code } });
  };

  const domain = await user.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const table = await user.post<Made & { key: string }>('/table_definitions', {
    branch_id: main,
    table_definition: { name: `Units ${unique()}`, domain_id: domain.id },
  });
  const add = (column_definition: object) =>
    user.post<Made>('/column_definitions', { table_definition_id: table.id, column_definition });
  await add({ name: 'code', data_type: 'string', length: 10, is_primary_key: true });
  const text = { data_type: 'string', length: 10 };
  const refused = await user.send<{ errors: string[] }>('POST', '/column_definitions', {
    table_definition_id: table.id,
    column_definition: { name: 'parent_code', ...text, is_hierarchy: true },
  });
  expect(refused).toMatchObject({
    status: 422,
    body: { errors: ['Is hierarchy is only for columns that refer to their own table'] },
  });
  const parent = await add({ name: 'parent_code', ...text, foreign_key_table_id: table.id });
  await deploy(main, table.id);
  for (const [code, parent_code] of [
    ['A', null],
    ['B', 'A'],
    ['C', 'B'],
  ])
    await user.post('/table_data', { table_definition_id: table.id, record: { code, parent_code } });
  expect((await move(table.id, 'A', 'C')).status).toBe(200);

  // A cycle among the rows blocks the deployment, which names it, until it is repaired.
  await user.patch(`/column_definitions/${parent.id}`, { column_definition: { is_hierarchy: true } });
  const message = 'parent_code is a hierarchy; rows lead back to themselves: A, B, C.';
  expect((await propose(main, table.id)).diffs).toMatchObject([{ blockers: [{ message, rows: 3 }] }]);
  expect((await move(table.id, 'A', null)).status).toBe(200);
  await deploy(main, table.id);
  const [deployed] = (await user.get(`/deployed_table_definitions?q=id:eq:${table.id}`)).data;
  expect(deployed.column_definitions).toMatchObject([{ is_hierarchy: false }, { is_hierarchy: true }]);
  const sentence = "parent_code can't lead back to the record itself";
  expect(await move(table.id, 'A', 'C')).toMatchObject({
    status: 422,
    body: { errors: [`${sentence}: A > C > B > A`] },
  });

  const into = { id: table.id, branchId: main };
  const wish = { pattern: 'incremental', on_error: 'reject_rows' };
  const imported = await importFile(user, into, wish, 'code,parent_code\nA,D\nD,C\nE,A\n');
  expect(imported.rejections.map(({ row, message }: { row: number; message: string }) => [row, message])).toEqual([
    [2, sentence],
    [3, sentence],
  ]);
  expect(await edges(table.id)).toEqual(['A>', 'B>A', 'C>B', 'E>A']);

  // Each side is a tree; merged they have a cycle.
  const branch = await user.post<Made>('/branches', { branch: { name: `Work ${unique()}` } });
  const copy = await user.post<Made>(`/table_definitions/${table.id}/clone`, {
    target_branch_id: branch.id,
    include_data: true,
  });
  await deploy(branch.id, copy.id);
  expect((await move(copy.id, 'A', 'C')).status).toBe(422);
  expect((await move(copy.id, 'B', 'E')).status).toBe(200);
  expect((await move(table.id, 'E', 'C')).status).toBe(200);
  const promotion = await user.post<Made>('/promotions', {
    from_branch_id: branch.id,
    to_branch_id: main,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  const rehearse = () => user.post(`/promotions/${promotion.id}/rehearse`, {});
  expect((await rehearse()).violations).toMatchObject([{ message: sentence, rows: 3 }]);
  expect((await move(table.id, 'E', null)).status).toBe(200);
  expect((await rehearse()).violations).toEqual([]);
  expect((await user.post(`/promotions/${promotion.id}/promote`, {})).status).toBe('promoted');
  expect(await edges(table.id)).toEqual(['A>', 'B>E', 'C>B', 'E>']);
});
