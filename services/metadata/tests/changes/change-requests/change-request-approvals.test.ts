// Approvals of change requests: under which revision they count, how many it takes, and whose.

import type { FakeChangeRequests } from '../../fake-change-requests.ts';
import { givenUser, type Metadata, startMetadata } from '../../given.ts';
import { givenWorld, setPolicy, type World } from './change-request-given.ts';

let metadata: Metadata;
let world: World;
let data: FakeChangeRequests;

beforeAll(async () => {
  metadata = await startMetadata();
  data = metadata.neighbours.data.changeRequests;
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  world = await givenWorld(metadata);
});

const actionsOf = async (id: number) => (await world.show(id)).actions.map(({ action }: { action: string }) => action);

describe('an approval', () => {
  it('is refused under another revision, which the answer names', async () => {
    const id = await world.sent();
    const { revision } = await world.show(id);
    data.changeRows();
    const refused = await world.act(world.approver, id, 'approve', { revision });
    const present = (await world.show(id)).revision;
    expect(present).not.toBe(revision);
    expect(refused).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'outdated', params: { revision: present } }] },
    });
    expect(await world.show(id)).toMatchObject({ status: 'requested', approvals: [] });
  });

  it('is refused when rows change while it is given, and the request stays under review', async () => {
    const id = await world.sent();
    metadata.neighbours.data.after.SetChangeRequestPhase = () => {
      if (data.requests.get(id)?.phase === 'closed') data.changeRows();
    };
    const refused = await world.decide(world.approver, id, 'approve');
    metadata.neighbours.data.after = {};
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ code: 'outdated' }] } });
    expect(await world.show(id)).toMatchObject({ status: 'requested', approvals: [] });
    expect(data.requests.get(id)?.phase).toBe('review');
  });

  it('accepts what is undecided and leaves decisions as they are', async () => {
    const id = await world.propose(world.steward, ['create', 'create', 'delete']);
    const ids = data.requests.get(id)?.operations.map((operation) => operation.id) as [number, number, number];
    await world.act(world.steward, id, 'send_request');
    data.decide(id, [ids[0]], 'rejected');
    data.decide(id, [ids[1]], 'returned');
    const { body } = await world.decide(world.approver, id, 'approve');
    expect(body.counts).toMatchObject({ accepted: 1, rejected: 1, returned: 1, undecided: 0 });
    expect(body.approvals).toMatchObject([{ user_id: world.approver.id, is_current: true }]);
  });

  it('counts with others of the same revision, one for each user', async () => {
    const { account, approver, second, decide } = world;
    await setPolicy(metadata, account.mainId, { required_approvals: 2 });
    const id = await world.sent();
    for (let i = 0; i < 2; i += 1)
      expect((await decide(approver, id, 'approve')).body).toMatchObject({
        status: 'requested',
        approvals: [{ user_id: approver.id, is_current: true }],
        counts: { undecided: 2 },
      });
    data.changeRows();
    expect((await world.show(id)).approvals).toMatchObject([{ is_current: false }]);
    expect((await decide(second, id, 'approve')).body.status).toBe('requested');
    expect((await decide(approver, id, 'approve')).body).toMatchObject({
      status: 'approved',
      approved_by: approver.id,
      approvals: [
        { user_id: second.id, is_current: true },
        { user_id: approver.id, is_current: true },
      ],
    });
    expect(await actionsOf(id)).toEqual(['create', 'send_request', 'approve', 'approve', 'approve', 'approve']);
  });

  it('at once by several users makes one approved request', async () => {
    const { account, approver, second } = world;
    await setPolicy(metadata, account.mainId, { required_approvals: 2 });
    const id = await world.sent();
    const { revision } = await world.show(id);
    const third = givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]);
    const answers = await Promise.all(
      [approver, second, third].map((user) => world.act(user, id, 'approve', { revision })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(1);
    expect((await world.show(id)).status).toBe('approved');
  });

  it('of one’s own counts only where the policy allows it', async () => {
    const { account, admin, act } = world;
    const id = await world.propose(admin);
    const { revision } = (await act(admin, id, 'send_request')).body;
    for (const step of ['approve', 'apply']) expect((await act(admin, id, step, { revision })).status).toBe(403);
    expect((await world.show(id)).can).not.toContain('approve');
    await setPolicy(metadata, account.mainId, { self_approval: true });
    expect((await act(admin, id, 'approve', { revision })).body.status).toBe('approved');
  });

  it('takes the right at that moment, not a cached one', async () => {
    const { approver, act } = world;
    const id = await world.sent();
    const { revision } = await world.show(id);
    (metadata.neighbours.identity.users.get(approver.id) as { permissions: object[] }).permissions.length = 0;
    expect((await act(approver, id, 'approve', { revision })).status).toBe(403);
  });
});
