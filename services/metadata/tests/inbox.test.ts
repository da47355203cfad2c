// The inbox of a user, over all kinds of changes.

import { givenWorld, type User, type World } from './changes/change-requests/change-request-given.ts';
import { callingAs, givenUser, type Metadata, startMetadata } from './given.ts';

let metadata: Metadata;
let world: World;

beforeAll(async () => {
  metadata = await startMetadata();
  world = await givenWorld(metadata);
});
afterAll(() => metadata.stop());

type Item = { kind: string; id: number; reason: string };

const itemsOf = async (user: User) =>
  (await user.get('/inbox')).data.map(({ kind, id, reason }: Item) => `${kind} ${id}: ${reason}`);

describe('the inbox', () => {
  it('has what waits for an approver, and what came back to its creator', async () => {
    const { steward, approver, second, admin, account, codesId, act, decide } = world;
    const [open, returned, approved] = [await world.sent(), await world.sent(), await world.sent()];
    await act(approver, returned, 'request_changes', { comment: 'no' });
    await decide(approver, approved, 'approve');
    const developer = givenUser(metadata, account.id, [['develop', 'account', account.id]]);
    const body = { branch_id: account.mainId, table_definition_ids: [codesId] };
    const deployment = await developer.post('/deployments', body);
    await developer.post(`/deployments/${deployment.id}/send_request`, { comment: 'deploy it' });
    const waiting = [`deployment ${deployment.id}: approval`, `change_request ${open}: approval`];
    for (const user of [approver, second, admin]) expect(await itemsOf(user)).toEqual(waiting);
    expect(await itemsOf(developer)).toEqual([]);
    expect(await itemsOf(steward)).toEqual([
      `change_request ${approved}: approved`,
      `change_request ${returned}: changes_requested`,
    ]);
    expect(await steward.get('/inbox/counts')).toEqual({ approval: 0, changes_requested: 1, approved: 1, failed: 0 });
    expect(await approver.get('/inbox/counts')).toEqual({ approval: 2, changes_requested: 0, approved: 0, failed: 0 });
    expect((await approver.get('/inbox')).data[1]).toMatchObject({ title: 'Corrections', branch_name: 'main' });
  });

  it('has nothing of another account, and is of people', async () => {
    const other = await givenWorld(metadata);
    expect(await itemsOf(other.approver)).toEqual([]);
    const machine = callingAs(metadata, { accountId: world.account.id, applicationId: 7 });
    expect((await machine.send('GET', '/inbox')).status).toBe(401);
  });

  it('has no request that the approver has approved already', async () => {
    const { approver, second } = world;
    const { pool } = metadata;
    await pool.query('alter table branch add column if not exists required_approvals integer');
    await pool.query('update branch set required_approvals = 2 where id = $1', [world.account.mainId]);
    const id = await world.sent();
    await world.decide(approver, id, 'approve');
    expect(await itemsOf(approver)).not.toContain(`change_request ${id}: approval`);
    expect(await itemsOf(second)).toContain(`change_request ${id}: approval`);
  });
});
