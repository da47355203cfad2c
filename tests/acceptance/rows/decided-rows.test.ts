// Rows of a promotion, decided one by one, by the public API alone: the approver rejects one with a
// reason, the rest is merged, and the reason can be read afterwards.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, givenBranchCopy, givenDeployedTable } from '@almanac/testkit/system/builders';

type Made = { id: number; revision: string };
type Row = { code: string; name: string };

it('a rejected row stays as it is on the target branch, and its reason is kept', async () => {
  const user: Api = await (await givenAccount()).person();
  const table = await givenDeployedTable(user);
  const write = (table_definition_id: number, code: string, name: string) =>
    user.send('PUT', '/table_data/by_key', { table_definition_id, record: { code, name } });
  await write(table.id, 'A', 'n');
  const copy = await givenBranchCopy(user, table.id);
  await write(copy.id, 'A', 'renamed');
  await write(copy.id, 'B', 'new');

  const promotion = await user.post<Made>('/promotions', {
    ...{ from_branch_id: copy.branchId, to_branch_id: table.branchId },
    ...{ table_definition_ids: [copy.id], include_data: true },
  });
  const { revision } = await user.get<Made>(`/promotions/${promotion.id}`);
  const rows = [{ table_definition_id: copy.id, key: { code: 'A' } }];
  const decide = (body: object) => user.send('POST', `/promotions/${promotion.id}/decisions`, body);
  const decision = { rows, decision: 'reject', comment: 'The old name is in use' };
  expect(await decide({ decisions: [decision] })).toMatchObject({ status: 200, body: { decided_count: 1 } });
  const elsewhere = [{ table_definition_id: copy.id, key: { code: 'Z' } }];
  expect((await decide({ decisions: [{ rows: elsewhere, decision: 'reject' }] })).status).toBe(404);
  expect(await user.get(`/promotions/${promotion.id}/rows`)).toMatchObject({
    rows: [
      { key: { code: 'A' }, decision: 'rejected', comment: 'The old name is in use' },
      { key: { code: 'B' }, decision: 'undecided' },
    ],
    counts: { decisions: { undecided: 1, accepted: 0, rejected: 1 } },
  });

  // What was seen before the decision is not what would be merged now.
  const promote = (body: object) => user.send<Made>('POST', `/promotions/${promotion.id}/promote`, body);
  const outdated = await promote({ revision });
  expect(outdated.status).toBe(422);
  expect(await promote({ revision: outdated.body.revision })).toMatchObject({
    status: 200,
    body: { status: 'promoted', rows: [{ created: 1, updated: 0, deleted: 0 }] },
  });
  const { data } = await user.get<{ data: Row[] }>(`/table_data?table_definition_id=${table.id}&sort=code`);
  expect(data.map(({ code, name }) => `${code} ${name}`)).toEqual(['A n', 'B new']);
  expect(await user.get(`/promotions/${promotion.id}/decisions?decision=rejected`)).toMatchObject({
    rows: [{ table_definition_id: copy.id, key: { code: 'A' }, comment: 'The old name is in use' }],
    rowCount: 1,
  });
});
