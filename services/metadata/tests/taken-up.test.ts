// Work that is finished by another hand than the one that began it: by the reconciler, by a later request, by another instance. Data and
// the audit log are told the request and the person that asked for it, and the actions of the work name the same request.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { type Api, callingAs, givenUser, type Metadata, startMetadata } from './given.ts';
import { givenWork, type Work } from './promotion-given.ts';

const applicationId = 77;
let metadata: Metadata;
let work: Work;
let asker: Api & { id: number };
let requestId: string;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
  const { id } = givenUser(metadata, work.account.id, [['admin', 'account', work.account.id]]);
  asker = { id, ...callingAs(metadata, { accountId: work.account.id, userId: id, applicationId }) };
  requestId = `asked-first-${id}`;
});
afterEach(() => {
  Object.assign(metadata.neighbours.data, { before: {}, after: {}, calls: [] });
});

const ask = (method: string, path: string, body?: unknown) =>
  asker.send(method, path, body, { 'x-request-id': requestId });

/** Data can't be asked this until the answer is called. */
function withoutData(rpc: string): () => void {
  metadata.neighbours.data.before[rpc] = () => {
    throw new ServiceError('unavailable', 'data is away');
  };
  return () => delete metadata.neighbours.data.before[rpc];
}

/** Waits for this act, and expects it and all that data was asked to name whoever asked. */
async function expectAsked(rpc: string, action: string, resourceId: number): Promise<void> {
  const [act] = await eventually(() => {
    const acts = metadata.acts.filter((each) => each.action === action && each.resource_id === resourceId);
    expect(acts).toHaveLength(1);
    return acts;
  });
  expect(act).toMatchObject({ user_id: asker.id, application_id: applicationId, request_id: requestId });
  await expectDataAsked(rpc);
}

async function expectDataAsked(rpc: string): Promise<void> {
  const { calls } = metadata.neighbours.data;
  const asked = calls.filter((each) => each.rpc === rpc && each.call.accountId === work.account.id);
  expect(asked.length).toBeGreaterThan(1);
  for (const { call } of asked) expect(call).toMatchObject({ userId: asker.id, applicationId, requestId });
}

async function givenServed(): Promise<number> {
  const { id } = await work.table('Codes');
  await deploy(work.account.mainId, id);
  return id;
}

async function deploy(branch_id: number, ...table_definition_ids: number[]): Promise<void> {
  const { id } = await work.admin.post('/deployments', { branch_id, table_definition_ids });
  await work.admin.post(`/deployments/${id}/deploy`);
}

type Noted = { action: string; request_id: string | null };
const requestsOf = (actions: Noted[], names: string[]) =>
  actions.filter(({ action }) => names.includes(action)).map(({ request_id }) => request_id);

it('a promotion with rows that a later request is answered is of the request that began it', async () => {
  const id = await givenServed();
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
  const first = ask('POST', path, {});
  await eventually(() => expect(metadata.neighbours.data.merges.length).toBeGreaterThan(0));
  const later = work.admin.send('POST', path, {}, { 'x-request-id': 'asked-later' });
  back();
  for (const { status, body } of await Promise.all([first, later])) {
    expect([status, body.status, body.promoted_by]).toEqual([200, 'promoted', asker.id]);
    expect(requestsOf(body.actions, ['promote', 'succeed'])).toEqual([requestId, requestId]);
  }
  await expectAsked('MergeRows', 'promotion.promoted', promotion.id);
});

it('a deployment that is taken up is of the request that began it', async () => {
  const { id } = await work.table('Codes');
  const body = { branch_id: work.account.mainId, table_definition_ids: [id] };
  const deployment = await work.admin.post('/deployments', body);
  const back = withoutData('ApplyDeployment');
  const path = `/deployments/${deployment.id}/deploy`;
  const first = ask('POST', path);
  await eventually(() =>
    expect(metadata.neighbours.data.calls.some(({ rpc }) => rpc === 'GetAppliedDeployment')).toBe(true),
  );
  const later = work.admin.send('POST', path, undefined, { 'x-request-id': 'asked-later' });
  back();
  for (const { status, body } of await Promise.all([first, later])) {
    expect([status, body.status, body.deployed_by]).toEqual([200, 'deployed', asker.id]);
    expect(requestsOf(body.actions, ['deploy', 'succeed'])).toEqual([requestId, requestId]);
  }
  await expectAsked('ApplyDeployment', 'deployment.deployed', deployment.id);
});

it('a removal that the reconciler ends is of the request that asked for it, and so is the restoration', async () => {
  const id = await givenServed();
  const backForRemoval = withoutData('DropTable');
  expect((await ask('POST', `/table_definitions/${id}/remove`)).status).toBe(503);
  backForRemoval();
  await expectAsked('DropTable', 'table_definition.removed', id);
  requestId = `${requestId}-again`;
  const backForRestoration = withoutData('RestoreTable');
  expect((await ask('POST', `/table_definitions/${id}/restore`)).status).toBe(503);
  backForRestoration();
  await expectAsked('RestoreTable', 'table_definition.restored', id);
});

it('a removal that its own request, made again, ends is of the first one', async () => {
  const id = await givenServed();
  const removal = (request: string) =>
    asker.send('POST', `/table_definitions/${id}/remove`, undefined, {
      'x-request-id': request,
      'idempotency-key': requestId,
    });
  const back = withoutData('DropTable');
  expect((await removal(requestId)).status).toBe(503);
  back();
  expect((await removal('made-again')).status).toBe(204);
  await expectAsked('DropTable', 'table_definition.removed', id);
});

it('the tables of a deleted branch are dropped for the request that deleted it', async () => {
  const back = withoutData('DropBranch');
  expect((await ask('DELETE', `/branches/${work.featureId}`)).status).toBe(204);
  back();
  await eventually(() => expect(metadata.neighbours.data.droppedBranches).toContain(work.featureId));
  await expectDataAsked('DropBranch');
});
