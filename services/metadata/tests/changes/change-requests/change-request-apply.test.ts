// Applying change requests: approved ones, requested ones in one step, what refuses it, what is
// left over, and outcomes that are found later.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import type { FakeChangeRequests } from '../../fake-change-requests.ts';
import { type Metadata, startMetadata } from '../../given.ts';
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
afterEach(() => {
  data.refusing = [];
  metadata.neighbours.data.before = {};
  metadata.neighbours.data.after = {};
});

const actionsOf = async (id: number) => (await world.show(id)).actions.map(({ action }: { action: string }) => action);
const appliedTimes = (id: number) => data.applications.filter((name) => name.startsWith(`metadata-${id}-`)).length;

describe('applying', () => {
  it('approves too, where one approval is enough', async () => {
    const id = await world.sent();
    expect((await world.decide(world.approver, id, 'apply', { comment: 'checked' })).body).toMatchObject({
      status: 'applied',
      approved_by: world.approver.id,
      applied_by: world.approver.id,
      approvals: [{ user_id: world.approver.id, comment: 'checked' }],
    });
    expect(await actionsOf(id)).toEqual(['create', 'send_request', 'approve', 'apply', 'succeed']);
    expect(data.asked.at(-1)).toMatchObject({
      requested_by: world.steward.id,
      approved_by: world.approver.id,
      change_request_id: id,
    });
  });

  it('of a requested one takes the approvals that are missing', async () => {
    await setPolicy(metadata, world.account.mainId, { required_approvals: 2 });
    const id = await world.sent();
    const reason = 'It takes 2 approvals of the present revision; with yours there are 1.';
    expect((await world.show(id, world.approver)).can_not.apply).toBe(reason);
    expect(await world.decide(world.approver, id, 'apply')).toMatchObject({ status: 422, body: { errors: [reason] } });
    expect((await world.show(id)).approvals).toEqual([]);
    await world.decide(world.second, id, 'approve');
    expect((await world.decide(world.approver, id, 'apply')).body.status).toBe('applied');
  });

  it('makes a draft of what was returned, and keeps what was rejected', async () => {
    const { steward, approver, decide } = world;
    const id = await world.propose(steward, ['create', 'create', 'delete', 'update']);
    const ids = data.requests.get(id)?.operations.map((operation) => operation.id) as number[];
    await world.act(steward, id, 'send_request');
    data.decide(id, ids.slice(0, 1), 'rejected');
    data.decide(id, ids.slice(1, 3), 'returned');
    const { body } = await decide(approver, id, 'apply');
    expect(body).toMatchObject({ status: 'applied', counts: { operations: 2, rejected: 1, accepted: 1 } });
    const rest = await world.show(body.continued_by_id, steward);
    expect(rest).toMatchObject({
      status: 'draft',
      title: 'Corrections',
      created_by: steward.id,
      continues_id: id,
      counts: { operations: 2, undecided: 2 },
      can: ['send_request', 'cancel'],
    });
    expect((await world.act(steward, rest.id, 'send_request')).body.status).toBe('requested');
  });

  it('that data refuses answers a problem for each operation, and leaves it approved', async () => {
    const { approver, decide } = world;
    const id = await world.sent();
    await decide(approver, id, 'approve');
    data.refusing = [
      { operation_id: 5, table: 'codes', code: 'taken', message: 'code A is taken', column: 'code' },
      { operation_id: 6, table: 'codes', code: 'of_the_next_release', message: 'something new' },
    ];
    const keyed = { 'idempotency-key': `apply-${id}` };
    const body = { revision: (await world.show(id)).revision };
    const refused = await approver.send('POST', `/change_requests/${id}/apply`, body, keyed);
    expect(refused).toMatchObject({
      status: 422,
      body: {
        problems: [
          { code: 'taken', message: 'code A is taken', column: 'code', params: { operation_id: 5, table: 'codes' } },
          { code: 'invalid', message: 'something new' },
        ],
      },
    });
    expect(await world.show(id)).toMatchObject({
      status: 'approved',
      applied_by: null,
      error: 'code A is taken\nsomething new',
    });
    expect(appliedTimes(id)).toBe(0);
    data.refusing = [];
    expect((await approver.send('POST', `/change_requests/${id}/apply`, body, keyed)).body).toMatchObject({
      status: 'applied',
      error: null,
    });
    expect(await actionsOf(id)).toEqual(['create', 'send_request', 'approve', 'apply', 'refuse', 'apply', 'succeed']);
  });

  it('rows that have changed since the approval takes another approval', async () => {
    const { approver, steward, decide, act } = world;
    const id = await world.sent();
    const approved = (await decide(approver, id, 'approve')).body.revision;
    data.changeRows();
    expect(await act(steward, id, 'apply', { revision: approved })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'outdated', params: { revision: expect.any(String) } }] },
    });
    expect(await decide(steward, id, 'apply')).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'outdated', params: { revision: approved } }] },
    });
    expect((await act(approver, id, 'apply', { revision: 'made-up' })).status).toBe(422);
    expect((await world.show(id)).status).toBe('approved');
    expect((await decide(approver, id, 'apply')).body.status).toBe('applied');
  });

  it('is done once by concurrent requests, and all get the answer', async () => {
    const { approver, second } = world;
    const id = await world.sent();
    const { revision } = await world.show(id);
    const answers = await Promise.all(
      [approver, second, approver, second].map((user) => world.act(user, id, 'apply', { revision })),
    );
    expect(appliedTimes(id)).toBe(1);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const { status, body } of answers)
      if (status !== 200) expect(body.problems[0].code).toMatch(/wrong_state|outdated/);
    expect(await world.show(id)).toMatchObject({ status: 'applied', counts: { accepted: 2 } });
  });

  it('of which the answer of data is lost is found again', async () => {
    const id = await world.sent();
    let losses = 0;
    metadata.neighbours.data.after.ApplyChangeRequest = () => {
      losses += 1;
      if (losses === 1) throw new ServiceError('unavailable', 'the answer was lost');
    };
    expect((await world.decide(world.approver, id, 'apply')).body.status).toBe('applied');
    expect(appliedTimes(id)).toBe(1);
    expect(await actionsOf(id)).toEqual(['create', 'send_request', 'approve', 'apply', 'succeed']);
  });

  it('that data can’t finish fails after some tries, and can be tried again', async () => {
    const id = await world.sent();
    metadata.neighbours.data.before.ApplyChangeRequest = () => {
      throw new ServiceError('internal', 'a fault');
    };
    const asked = world.decide(world.approver, id, 'apply');
    await eventually(async () => {
      await metadata.pool.query(`update change_request set lease_until = now() where id = $1 and lease_until > now()`, [
        id,
      ]);
      expect((await world.show(id)).status).toBe('failed');
    });
    expect(await asked).toMatchObject({ status: 422, body: { errors: ['It could not be applied; try again.'] } });
    metadata.neighbours.data.before = {};
    expect((await world.decide(world.approver, id, 'apply')).body).toMatchObject({ status: 'applied', error: null });
  });
});
