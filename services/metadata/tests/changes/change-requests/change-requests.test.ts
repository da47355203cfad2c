// Change requests over HTTP: their steps, who sees them and who may what, lists, repeated requests
// and limits.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { callingAs, givenAccount, givenAdmin, givenUser, type Metadata, startMetadata } from '../../given.ts';
import { givenWorld, setPolicy, type World } from './change-request-given.ts';

let metadata: Metadata;
let world: World;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  world = await givenWorld(metadata);
});

const phaseOf = (id: number) => metadata.neighbours.data.changeRequests.requests.get(id)?.phase;

describe('a change request', () => {
  it('begins as an empty draft, which data knows', async () => {
    const { steward, account } = world;
    const given = { branch_id: account.mainId, change_request: { title: 'Corrections', description: 'of codes' } };
    const { status, body } = await steward.send('POST', '/change_requests', given);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      branch_id: account.mainId,
      title: 'Corrections',
      description: 'of codes',
      status: 'draft',
      created_by: steward.id,
      counts: { operations: 0 },
      table_definitions: [],
      policy: { required_approvals: 1, self_approval: false, comment_required: false },
      can: ['send_request', 'cancel'],
    });
    expect(phaseOf(body.id)).toBe('draft');
    expect(metadata.neighbours.data.changeRequests.requests.get(body.id)?.created_by).toBe(steward.id);
  });

  it('goes from draft to applied, with the numbers and the history of it', async () => {
    const { steward, approver, act, decide, codesId } = world;
    const id = await world.propose();
    expect(await act(steward, id, 'send_request', { comment: 'please' })).toMatchObject({
      status: 200,
      body: { status: 'requested', counts: { operations: 2, undecided: 2 } },
    });
    expect(phaseOf(id)).toBe('review');
    expect(await decide(approver, id, 'approve')).toMatchObject({
      status: 200,
      body: { status: 'approved', approved_by: approver.id, counts: { accepted: 2, undecided: 0 } },
    });
    expect(phaseOf(id)).toBe('closed');
    const applied = await decide(steward, id, 'apply');
    expect(applied).toMatchObject({
      status: 200,
      body: {
        status: 'applied',
        applied_by: steward.id,
        revision: null,
        applied: [{ table_definition_id: codesId, key: 'codes', created: 1, updated: 1, deleted: 0, restored: 0 }],
        can: [],
      },
    });
    const actions = applied.body.actions.map(({ action, user }: { action: string; user: number }) => [action, user]);
    expect(actions).toEqual([
      ['create', steward.id],
      ['send_request', steward.id],
      ['approve', approver.id],
      ['apply', steward.id],
      ['succeed', null],
    ]);
  });

  it('can’t be sent while it is empty, or its operations have problems', async () => {
    const { steward, act, account } = world;
    const { id } = await steward.post('/change_requests', { branch_id: account.mainId, title: 'Nothing' });
    expect(await act(steward, id, 'send_request')).toMatchObject({
      status: 422,
      body: { errors: ['The change request is empty.'] },
    });
    metadata.neighbours.data.changeRequests.propose(id, world.codesId, ['create', 'create'], 1);
    expect(await act(steward, id, 'send_request')).toMatchObject({
      status: 422,
      body: { errors: ['2 operations have problems.'] },
    });
    expect(await world.show(id)).toMatchObject({ status: 'draft', counts: { with_problems: 2 } });
  });

  it('is withdrawn by its creator, and its approvals are deleted', async () => {
    const { steward, approver, act, decide } = world;
    const id = await world.sent();
    await decide(approver, id, 'approve');
    expect(await act(approver, id, 'withdraw')).toMatchObject({ status: 403 });
    expect(await act(steward, id, 'withdraw')).toMatchObject({
      body: { status: 'draft', approvals: [], approved_by: null },
    });
    expect(phaseOf(id)).toBe('draft');
  });

  it('is given back with a reason, changed, and sent again', async () => {
    const { steward, approver, act } = world;
    const id = await world.sent();
    for (const body of [{}, { comment: '  ' }, { comment: null }])
      expect((await act(approver, id, 'request_changes', body)).status).toBe(400);
    expect(await act(approver, id, 'request_changes', { comment: 'no typos' })).toMatchObject({
      body: { status: 'changes_requested' },
    });
    expect(phaseOf(id)).toBe('draft');
    const change = { change_request: { title: 'Better' } };
    expect((await steward.send('PATCH', `/change_requests/${id}`, change)).body.title).toBe('Better');
    expect((await act(steward, id, 'send_request')).body.status).toBe('requested');
    expect(await steward.send('PATCH', `/change_requests/${id}`, change)).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'wrong_state' }] },
    });
  });

  it('is rejected or cancelled for good', async () => {
    const { steward, approver, admin, act } = world;
    const [first, second, third] = [await world.sent(), await world.sent(), await world.propose()];
    expect((await act(approver, first, 'reject', { comment: 'no' })).body.status).toBe('rejected');
    expect((await act(steward, second, 'cancel')).body.status).toBe('cancelled');
    expect((await act(approver, third, 'cancel')).status).toBe(403);
    expect((await act(admin, third, 'cancel')).body.status).toBe('cancelled');
    for (const id of [first, second, third]) {
      expect(phaseOf(id)).toBe('closed');
      expect((await act(steward, id, 'send_request')).status).toBe(422);
      expect(await world.show(id)).toMatchObject({ revision: null, can: [] });
    }
  });

  it('is created, sent and withdrawn by an application, and decided by people', async () => {
    const { account, act } = world;
    const own = callingAs(metadata, { accountId: account.id, applicationId: 7, branching: false });
    const other = callingAs(metadata, { accountId: account.id, applicationId: 8 });
    const id = await world.propose(own);
    expect(await world.show(id)).toMatchObject({ created_by: null, application_id: 7 });
    expect((await act(other, id, 'send_request')).status).toBe(403);
    const sent = await act(own, id, 'send_request');
    expect(sent.body).toMatchObject({ status: 'requested', can: ['withdraw', 'cancel'] });
    const body = { revision: sent.body.revision };
    for (const step of ['approve', 'apply']) expect((await act(own, id, step, body)).status).toBe(401);
    for (const step of ['reject', 'request_changes'])
      expect((await act(own, id, step, { comment: 'no' })).status).toBe(401);
    expect((await act(own, id, 'withdraw')).body.status).toBe('draft');
  });

  it('whose phase did not follow its state gets the phase of the state again', async () => {
    const id = await world.propose();
    metadata.neighbours.data.after.SetChangeRequestPhase = () => {
      throw new ServiceError('unavailable', 'the answer was lost');
    };
    expect((await world.act(world.steward, id, 'send_request')).status).toBe(503);
    delete metadata.neighbours.data.after.SetChangeRequestPhase;
    expect(phaseOf(id)).toBe('review');
    await eventually(() => expect(phaseOf(id)).toBe('draft'));
    expect((await world.show(id)).status).toBe('draft');
  });
});

describe('who may', () => {
  it('create: users who may edit rows of some table of the branch', async () => {
    const { account, lawsId, lawDomainId, approver } = world;
    const body = { branch_id: account.mainId, title: 'Mine' };
    const user = (...grants: Parameters<typeof givenUser>[2] & object) => givenUser(metadata, account.id, grants);
    const may = [
      user(['edit', 'table_definition', lawsId]),
      user(['edit', 'domain', lawDomainId]),
      user(['edit', 'branch', account.mainId]),
    ];
    for (const each of may) expect((await each.send('POST', '/change_requests', body)).status).toBe(201);
    const mayNot = [approver, user(['view', 'account', account.id]), user(['edit', 'table_definition', 999_999])];
    for (const each of mayNot) expect((await each.send('POST', '/change_requests', body)).status).toBe(403);
  });

  it('see: the creator, approvers of the branch, and users who see a table, with that table alone', async () => {
    const { account, steward, approver, lawsId, codesId } = world;
    const { id } = await steward.post('/change_requests', { branch_id: account.mainId, title: 'Both' });
    metadata.neighbours.data.changeRequests.propose(id, codesId, ['create']);
    metadata.neighbours.data.changeRequests.propose(id, lawsId, ['delete']);
    await world.act(steward, id, 'send_request');
    const lawyer = givenUser(metadata, account.id, [['view', 'table_definition', lawsId]]);
    const outsider = givenUser(metadata, account.id);
    const idsSeen = async (user: typeof lawyer) =>
      (await user.get(`/change_requests/${id}`)).table_definitions.map((table: { id: number }) => table.id);
    expect(await idsSeen(steward)).toEqual([codesId, lawsId]);
    expect(await idsSeen(approver)).toEqual([codesId, lawsId]);
    expect(await idsSeen(lawyer)).toEqual([lawsId]);
    expect((await outsider.send('GET', `/change_requests/${id}`)).status).toBe(403);
    const listed = async (user: typeof lawyer) => (await user.get('/change_requests')).data;
    expect(await listed(lawyer)).toMatchObject([{ id, table_definitions: [{ id: lawsId }] }]);
    expect(await listed(approver)).toMatchObject([{ id, table_definitions: [{ id: codesId }, { id: lawsId }] }]);
    expect(await listed(outsider)).toEqual([]);
  });

  it('no other user knows of it on a private branch, nor the creator who is no longer there', async () => {
    const { admin, steward } = world;
    const branch = await admin.post('/branches', { name: 'quiet', branch_type: 'private' });
    const { users } = metadata.neighbours.identity;
    const closed = { action: 'edit', resource_type: 'branch', resource_id: branch.id };
    const held = users.get(steward.id) as { permissions: object[]; private_branch_ids?: number[] };
    held.private_branch_ids = [branch.id];
    held.permissions.push(closed);
    metadata.context.rights.invalidateAll();
    const { id } = await steward.post('/change_requests', { branch_id: branch.id, title: 'Quiet' });
    expect((await steward.get('/change_requests')).data).toHaveLength(1);
    held.permissions.pop();
    metadata.context.rights.invalidateAll();
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { title: 'x' }],
      ['POST', '/send_request'],
      ['POST', '/approve', { revision: 'x' }],
      ['POST', '/apply', { revision: 'x' }],
      ['GET', '/comments'],
      ['POST', '/comments', { body: 'x' }],
    ] as const)
      expect({ path, ...(await steward.send(method, `/change_requests/${id}${path}`, body)) }).toMatchObject({
        path,
        status: 404,
      });
    expect((await steward.get('/change_requests')).data).toEqual([]);
    const create = { branch_id: branch.id, title: 'Quiet' };
    expect((await steward.send('POST', '/change_requests', create)).status).toBe(404);
  });

  it('change title and description: its creator alone', async () => {
    const { approver, admin } = world;
    const id = await world.propose();
    for (const user of [approver, admin])
      expect((await user.send('PATCH', `/change_requests/${id}`, { title: 'x' })).status).toBe(403);
  });

  it('take steps: as the table of transitions says', async () => {
    const { approver, admin, steward, act } = world;
    const id = await world.sent();
    const { revision } = await world.show(id);
    expect((await act(approver, id, 'withdraw')).status).toBe(403);
    for (const step of ['approve', 'apply']) {
      expect((await act(steward, id, step, { revision })).status).toBe(403);
      expect((await act(steward, id, step)).status).toBe(403); // before the body is read
      expect((await act(approver, id, step, {})).status).toBe(400);
    }
    expect((await act(steward, id, 'reject', { comment: 'no' })).status).toBe(403);
    expect(await world.show(id, steward)).toMatchObject({
      can: ['withdraw', 'cancel'],
      can_not: { approve: 'Only an approver of the branch other than its creator may approve this change request.' },
    });
    expect((await world.show(id, approver)).can).toEqual(['request_changes', 'approve', 'reject', 'apply']);
    expect((await world.show(id, admin)).can).toEqual(['cancel', 'request_changes', 'approve', 'reject', 'apply']);
  });

  it('no caller of another account', async () => {
    const id = await world.sent();
    const other = await givenAccount(metadata);
    const outsider = givenAdmin(metadata, other.id);
    for (const api of [outsider, other.api]) {
      expect((await api.send('GET', `/change_requests/${id}`)).status).toBe(404);
      expect((await api.send('POST', `/change_requests/${id}/cancel`)).status).toBe(404);
      expect((await api.send('POST', '/change_requests', { branch_id: world.account.mainId, title: 'x' })).status).toBe(
        404,
      );
    }
    expect((await outsider.get('/change_requests')).data).toEqual([]);
  });
});

describe('the list', () => {
  it('is filtered by state, branch, creator, table and title', async () => {
    const { steward, admin, account, lawsId, codesId } = world;
    const [draft, sent] = [await world.propose(admin, ['delete'], lawsId), await world.sent()];
    await world.show(draft);
    const ids = async (query: string) =>
      (await admin.get(`/change_requests?${query}`)).data.map((each: { id: number }) => each.id);
    expect(await ids('')).toEqual([draft, sent]);
    expect(await ids('status=requested')).toEqual([sent]);
    expect(await ids(`created_by=${steward.id}`)).toEqual([sent]);
    expect(await ids(`table_definition_id=${lawsId}`)).toEqual([draft]);
    expect(await ids(`table_definition_id=${codesId}&q=status:eq:draft`)).toEqual([]);
    expect(await ids(`branch_id=${account.mainId}&q=correct&sort=-id`)).toEqual([sent, draft]);
    expect(await ids('branch_id=999999')).toEqual([]);
    expect((await admin.send('GET', '/change_requests?status=lost')).status).toBe(400);
  });
});

describe('the same request again', () => {
  it('makes one change request, and takes one step', async () => {
    const { steward, account } = world;
    const keyed = (key: string) => ({ 'idempotency-key': key });
    const body = { branch_id: account.mainId, title: 'Once' };
    const made = await Promise.all(
      Array.from({ length: 4 }, () => steward.send('POST', '/change_requests', body, keyed('make'))),
    );
    expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1);
    const [
      {
        body: { id },
      },
    ] = made as [(typeof made)[0]];
    metadata.neighbours.data.changeRequests.propose(id, world.codesId, ['create']);
    for (let i = 0; i < 2; i += 1)
      expect(await steward.send('POST', `/change_requests/${id}/send_request`, {}, keyed('send'))).toMatchObject({
        status: 200,
        body: { status: 'requested' },
      });
    const { actions } = await world.show(id);
    expect(actions.map(({ action }: { action: string }) => action)).toEqual(['create', 'send_request']);
  });
});

describe('hostile input', () => {
  it('is a clear 4xx that changes nothing', async () => {
    const { steward, account } = world;
    const branch_id = account.mainId;
    const bad: [unknown, number][] = [
      [{ title: 'x' }, 400],
      [{ branch_id }, 422],
      [{ branch_id, title: '' }, 422],
      [{ branch_id, title: '\u200b' }, 422],
      [{ branch_id, title: 'x'.repeat(256) }, 422],
      [{ branch_id, title: 7 }, 400],
      [{ branch_id, title: 'x', status: 'applied' }, 400],
      [{ branch_id, title: 'x', description: 'x'.repeat(10_001) }, 422],
      [{ branch_id: 2 ** 40, title: 'x' }, 404],
      [{ branch_id: '1', title: 'x' }, 400],
    ];
    for (const [body, status] of bad)
      expect({ body, status: (await steward.send('POST', '/change_requests', body)).status }).toEqual({ body, status });
    expect((await steward.get('/change_requests')).data).toEqual([]);
    const id = await world.sent();
    for (const revision of [7, null, '', 'x'.repeat(65), { $ne: 1 }])
      expect((await world.act(world.approver, id, 'approve', { revision })).status).toBe(400);
    expect((await world.show(id)).status).toBe('requested');
  });
});

describe('change requests', () => {
  it('are at most a thousand open ones on a branch', async () => {
    const { steward, account } = world;
    await metadata.pool.query(
      `insert into change_request (account_id, branch_id, title) select $1, $2, 'x' from generate_series(1, 999)`,
      [account.id, account.mainId],
    );
    const body = { branch_id: account.mainId, title: 'Last' };
    const last = await steward.send('POST', '/change_requests', body);
    expect(last.status).toBe(201);
    expect(await steward.send('POST', '/change_requests', body)).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'limit_reached', params: { maximum: 1000 } }] },
    });
    await world.act(steward, last.body.id, 'cancel');
    expect((await steward.send('POST', '/change_requests', body)).status).toBe(201);
  });

  it('whose policy wants a comment are not sent or approved without one', async () => {
    const { steward, approver, act, decide, account } = world;
    await setPolicy(metadata, account.mainId, { comment_required: true });
    const id = await world.propose();
    for (const body of [{}, { comment: ' ' }])
      expect(await act(steward, id, 'send_request', body)).toMatchObject({
        status: 422,
        body: { problems: [{ code: 'blank', field: 'comment' }] },
      });
    expect((await act(steward, id, 'send_request', { comment: 'as published' })).status).toBe(200);
    for (const step of ['approve', 'apply'] as const) expect((await decide(approver, id, step)).status).toBe(422);
    expect((await decide(approver, id, 'approve', { comment: 'checked' })).body.status).toBe('approved');
  });
});
