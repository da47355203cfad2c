// Work that another process finishes: the reconciler, a later request, another instance. The calls
// of data, the audit log and the actions of the work name the user and the request that began it.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { type Api, callingAs, givenUser, type Metadata, startMetadata } from '../given.ts';
import { givenWork, type Work } from '../promotion-given.ts';

const applicationId = 77;
let metadata: Metadata;
let work: Work;
let requester: Api & { id: number };
let requestId: string;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
  const { id } = givenUser(metadata, work.account.id, [['admin', 'account', work.account.id]]);
  requester = { id, ...callingAs(metadata, { accountId: work.account.id, userId: id, applicationId }) };
  requestId = `asked-first-${id}`;
});
afterEach(() => {
  Object.assign(metadata.neighbours.data, { before: {}, after: {}, calls: [] });
});

const request = (method: string, path: string, body?: unknown) =>
  requester.send(method, path, body, { 'x-request-id': requestId });

/** Makes this call of data fail until the answered function is called. */
function withoutData(rpc: string): () => void {
  metadata.neighbours.data.before[rpc] = () => {
    throw new ServiceError('unavailable', 'data is away');
  };
  return () => delete metadata.neighbours.data.before[rpc];
}

/** Waits for this act, and expects it and the calls of data to name the requester. */
async function expectRequester(rpc: string, action: string, resourceId: number): Promise<void> {
  const [act] = await eventually(() => {
    const acts = metadata.acts.filter((each) => each.action === action && each.resource_id === resourceId);
    expect(acts).toHaveLength(1);
    return acts;
  });
  expect(act).toMatchObject({ user_id: requester.id, application_id: applicationId, request_id: requestId });
  await expectDataCalls(rpc);
}

async function expectDataCalls(rpc: string): Promise<void> {
  const { calls } = metadata.neighbours.data;
  const asked = calls.filter((each) => each.rpc === rpc && each.call.accountId === work.account.id);
  expect(asked.length).toBeGreaterThan(1);
  for (const { call } of asked) expect(call).toMatchObject({ userId: requester.id, applicationId, requestId });
}

async function givenDeployed(): Promise<number> {
  const { id } = await work.table('Codes');
  await deploy(work.account.mainId, id);
  return id;
}

async function deploy(branch_id: number, ...table_definition_ids: number[]): Promise<void> {
  const { id } = await work.admin.post('/deployments', { branch_id, table_definition_ids });
  await work.admin.post(`/deployments/${id}/deploy`);
}

type Recorded = { action: string; request_id: string | null };
const requestsOf = (actions: Recorded[], names: string[]) =>
  actions.filter(({ action }) => names.includes(action)).map(({ request_id }) => request_id);

it('a promotion with rows that a later request finishes belongs to the request that began it', async () => {
  const id = await givenDeployed();
  const target = { target_branch_id: work.featureId, include_data: true };
  const copy = await work.admin.post(`/table_definitions/${id}/clone`, target);
  await deploy(work.featureId, copy.id);
  const promotion = await work.admin.post('/promotions', {
    from_branch_id: work.featureId,
    to_branch_id: work.account.mainId,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  const back = withoutData('MergeRows');
  const path = `/promotions/${promotion.id}/promote`;
  const first = request('POST', path, {});
  await eventually(() => expect(metadata.neighbours.data.merges.length).toBeGreaterThan(0));
  const later = work.admin.send('POST', path, {}, { 'x-request-id': 'asked-later' });
  back();
  for (const { status, body } of await Promise.all([first, later])) {
    expect([status, body.status, body.promoted_by]).toEqual([200, 'promoted', requester.id]);
    expect(requestsOf(body.actions, ['promote', 'succeed'])).toEqual([requestId, requestId]);
  }
  await expectRequester('MergeRows', 'promotion.promoted', promotion.id);
});

it('a resumed deployment belongs to the request that began it', async () => {
  const { id } = await work.table('Codes');
  const body = { branch_id: work.account.mainId, table_definition_ids: [id] };
  const deployment = await work.admin.post('/deployments', body);
  const back = withoutData('ApplyDeployment');
  const path = `/deployments/${deployment.id}/deploy`;
  const first = request('POST', path);
  await eventually(() =>
    expect(metadata.neighbours.data.calls.some(({ rpc }) => rpc === 'GetAppliedDeployment')).toBe(true),
  );
  const later = work.admin.send('POST', path, undefined, { 'x-request-id': 'asked-later' });
  back();
  for (const { status, body } of await Promise.all([first, later])) {
    expect([status, body.status, body.deployed_by]).toEqual([200, 'deployed', requester.id]);
    expect(requestsOf(body.actions, ['deploy', 'succeed'])).toEqual([requestId, requestId]);
  }
  await expectRequester('ApplyDeployment', 'deployment.deployed', deployment.id);
});

it('a removal or restoration that the reconciler finishes belongs to the request that began it', async () => {
  const id = await givenDeployed();
  const backForRemoval = withoutData('DropTable');
  expect((await request('POST', `/table_definitions/${id}/remove`)).status).toBe(503);
  backForRemoval();
  await expectRequester('DropTable', 'table_definition.removed', id);
  requestId = `${requestId}-again`;
  const backForRestoration = withoutData('RestoreTable');
  expect((await request('POST', `/table_definitions/${id}/restore`)).status).toBe(503);
  backForRestoration();
  await expectRequester('RestoreTable', 'table_definition.restored', id);
});

it('a removal that a repeated request finishes belongs to the first one', async () => {
  const id = await givenDeployed();
  const removal = (request: string) =>
    requester.send('POST', `/table_definitions/${id}/remove`, undefined, {
      'x-request-id': request,
      'idempotency-key': requestId,
    });
  const back = withoutData('DropTable');
  expect((await removal(requestId)).status).toBe(503);
  back();
  expect((await removal('made-again')).status).toBe(204);
  await expectRequester('DropTable', 'table_definition.removed', id);
});

it('the tables of a deleted branch are dropped for the request that deleted it', async () => {
  const back = withoutData('DropBranch');
  expect((await request('DELETE', `/branches/${work.featureId}`)).status).toBe(204);
  back();
  await eventually(() => expect(metadata.neighbours.data.droppedBranches).toContain(work.featureId));
  await expectDataCalls('DropBranch');
});
