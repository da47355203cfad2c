// Comments on change requests and on their operations.
import { givenUser, type Metadata, startMetadata } from '../../given.ts';
import { givenWorld, type World } from './change-request-given.ts';

let metadata: Metadata;
let world: World;
let id: number;

beforeAll(async () => {
  metadata = await startMetadata();
  world = await givenWorld(metadata);
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  id = await world.sent();
});

const path = () => `/change_requests/${id}/comments`;

describe('comments', () => {
  it('are made by everybody who sees the request, in any state, and listed oldest first', async () => {
    const { approver, steward, account } = world;
    expect(await approver.send('POST', path(), { body: 'Why these?' })).toMatchObject({
      status: 201,
      body: { user_id: approver.id, application_id: null, operation_id: null, body: 'Why these?' },
    });
    await world.act(steward, id, 'cancel');
    await steward.post(path(), { body: 'Never mind', operation_id: 12 });
    await account.api.post(path(), { body: 'noted' });
    const { data, meta } = await steward.get(path());
    expect(data).toMatchObject([
      { user_id: approver.id },
      { user_id: steward.id, operation_id: 12 },
      { user_id: null },
    ]);
    expect(meta.total_count).toBe(3);
    expect((await steward.get(`${path()}?operation_id=12`)).data).toHaveLength(1);
    expect((await steward.get(`${path()}?per_page=1&page=2`)).data).toMatchObject([{ operation_id: 12 }]);
    expect((await world.show(id)).comments_count).toBe(3);
  });

  it('on operations are for callers who see all tables of the request', async () => {
    const { steward, codesId, lawsId, account } = world;
    const both = (await steward.post('/change_requests', { branch_id: account.mainId, title: 'Both' })).id;
    metadata.neighbours.data.changeRequests.propose(both, codesId, ['create']);
    metadata.neighbours.data.changeRequests.propose(both, lawsId, ['create']);
    const lawyer = givenUser(metadata, account.id, [['view', 'table_definition', lawsId]]);
    await steward.post(`/change_requests/${both}/comments`, { body: 'secret code', operation_id: 3 });
    await lawyer.post(`/change_requests/${both}/comments`, { body: 'about all' });
    expect((await lawyer.get(`/change_requests/${both}/comments`)).data).toMatchObject([{ body: 'about all' }]);
    expect((await lawyer.get(`/change_requests/${both}/comments?operation_id=3`)).data).toEqual([]);
    expect((await lawyer.get(`/change_requests/${both}`)).comments_count).toBe(1);
    const answer = await lawyer.send('POST', `/change_requests/${both}/comments`, { body: 'x', operation_id: 3 });
    expect(answer.status).toBe(403);
  });

  it('are refused to others, and when they are blank or too long', async () => {
    const outsider = givenUser(metadata, world.account.id);
    expect((await outsider.send('GET', path())).status).toBe(403);
    expect((await outsider.send('POST', path(), { body: 'x' })).status).toBe(403);
    for (const body of [
      {},
      { body: '' },
      { body: '  ' },
      { body: 7 },
      { body: 'x'.repeat(10_001) },
      { body: 'x', operation_id: 0 },
      { body: 'x', operation_id: 2 ** 60 },
      { body: 'x', operation_id: 1.5 },
      { body: 'x', user_id: 1 },
    ])
      expect((await world.steward.send('POST', path(), body)).status).toBe(400);
    for (const query of ['operation_id=x', 'operation_id=-1', 'page=0', 'q=body:eq:x'])
      expect((await world.steward.send('GET', `${path()}?${query}`)).status).toBe(400);
    expect((await world.steward.get(path())).data).toEqual([]);
  });

  it('are made once by the same request', async () => {
    const send = () => world.steward.send('POST', path(), { body: 'once' }, { 'idempotency-key': `comment-${id}` });
    const [first, again] = [await send(), await send()];
    expect(again.body).toEqual(first.body);
    expect((await world.steward.get(path())).data).toHaveLength(1);
  });

  it('are at most a thousand', async () => {
    await metadata.pool.query(
      `insert into change_request_comment (change_request_id, body) select $1, 'x' from generate_series(1, 999)`,
      [id],
    );
    expect((await world.steward.send('POST', path(), { body: 'last' })).status).toBe(201);
    expect(await world.steward.send('POST', path(), { body: 'more' })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'limit_reached' }] },
    });
  });
});
