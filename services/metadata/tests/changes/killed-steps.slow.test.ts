// kill -9 of metadata at every step of a deployment, a promotion and a change request: they end
// deployed, promoted, applied or failed, never half; nothing is done twice; and the same request
// again gets the same answer. By default a few steps, other ones each time (KILLED_STEPS_SEED
// repeats a run); KILLED_STEPS=all takes every step.

import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { startTcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { createMetadata } from '../../src/service.ts';
import { type DyingProcess, type KeyedRequest, postKeyed, startDyingProcess } from '../dying-process.ts';
import { givenTable, type Metadata, startMetadata } from '../given.ts';
import { givenWork, type Work } from '../promotion-given.ts';

const seed = Number(process.env.KILLED_STEPS_SEED ?? Date.now() % 1_000_000);
const everyStep = process.env.KILLED_STEPS === 'all';
const maxOthers = 1;
// On a busy machine each of some forty steps takes most of a minute.
const limitMs = everyStep ? 3_600_000 : 900_000;

let metadata: Metadata;
let work: Work;
let last = 0;
let deployedId: number;

beforeAll(async () => {
  metadata = await startMetadata();
  work = await givenWork(metadata);
  const { id } = await givenTable(work.account, 'Deployed');
  const deployment = { branch_id: work.account.mainId, table_definition_ids: [id] };
  await work.admin.post(`/deployments/${(await work.admin.post('/deployments', deployment)).id}/deploy`);
  deployedId = id;
  console.log(`KILLED_STEPS_SEED=${seed}`);
});
afterAll(() => metadata.stop());

/** A request to be interrupted, its answer in the end, and what holds then. */
type Saga = { request: KeyedRequest; status: number; expectEnd(): Promise<void> };

const request = (path: string, body?: unknown): KeyedRequest => {
  last += 1;
  return { who: { accountId: work.account.id, userId: work.admin.id }, path, key: `killed-${last}`, body };
};

/** The outcome belongs to the request that began the attempt, whichever process stored it. */
function expectOneRequest(actions: { action: string; request_id: string | null }[], began: string, rpc: string): void {
  const asked = actions.find(({ action }) => action === began)?.request_id;
  expect(asked).toEqual(expect.any(String));
  expect(actions.find(({ action }) => action === 'succeed')?.request_id).toBe(asked);
  const { calls } = metadata.neighbours.data;
  expect(calls.findLast((each) => each.rpc === rpc)?.call).toMatchObject({ requestId: asked, userId: work.admin.id });
}

const timesOf = (actions: { action: string }[], name: string) => actions.filter(({ action }) => action === name).length;

async function givenDeployment() {
  const table = await givenTable(work.account, `Table ${last}`);
  const body = { branch_id: work.account.mainId, table_definition_ids: [table.id] };
  const { id } = await work.admin.post('/deployments', body);
  const appliedTimes = () =>
    metadata.neighbours.data.applications.filter((name) => name.startsWith(`metadata-${id}-`)).length;
  return { id, table, appliedTimes, request: request(`/deployments/${id}/deploy`) };
}

async function deploying(): Promise<Saga> {
  const { id, table, appliedTimes, request } = await givenDeployment();
  return {
    request,
    status: 200,
    expectEnd: async () => {
      const { status, actions } = await work.admin.get(`/deployments/${id}`);
      expect([status, timesOf(actions, 'deploy'), timesOf(actions, 'succeed')]).toEqual(['deployed', 1, 1]);
      expectOneRequest(actions, 'deploy', 'ApplyDeployment');
      expect(appliedTimes()).toBe(1);
      expect((await work.admin.get(`/deployed_table_definitions/${table.id}`)).version).toBe(table.version);
      expect((await work.admin.get(`/table_definitions/${table.id}`)).needs_deployment).toBe(false);
    },
  };
}

async function failing(): Promise<Saga> {
  const { id, table, appliedTimes, request } = await givenDeployment();
  return {
    request,
    status: 422,
    expectEnd: async () => {
      const { status, error, actions } = await work.admin.get(`/deployments/${id}`);
      expect([status, error]).toEqual(['failed', refusal]);
      expect(timesOf(actions, 'fail')).toBe(timesOf(actions, 'deploy'));
      expect(appliedTimes()).toBe(0);
      expect((await work.admin.send('GET', `/deployed_table_definitions/${table.id}`)).status).toBe(404);
    },
  };
}

async function promoting(): Promise<Saga> {
  const table = await work.table(`Table ${last}`);
  const copy = await work.clone(table.id);
  await work.addColumn(copy.id, { name: 'more', data_type: 'text' });
  const { id } = await work.propose(work.admin, copy.id);
  return {
    request: request(`/promotions/${id}/promote`, {}),
    status: 200,
    expectEnd: async () => {
      const { status, actions } = await work.admin.get(`/promotions/${id}`);
      expect([status, timesOf(actions, 'promote'), timesOf(actions, 'succeed')]).toEqual(['promoted', 1, 1]);
      expect(Object.keys(await work.columns(table.id))).toEqual(['code', 'more']);
    },
  };
}

async function promotingRows(): Promise<Saga> {
  const deploy = async (branch_id: number, id: number) => {
    const deployment = await work.admin.post('/deployments', { branch_id, table_definition_ids: [id] });
    await work.admin.post(`/deployments/${deployment.id}/deploy`);
  };
  const table = await work.table(`Table ${last}`);
  await deploy(work.account.mainId, table.id);
  const target = { target_branch_id: work.featureId, include_data: true };
  const copy = await work.admin.post(`/table_definitions/${table.id}/clone`, target);
  await deploy(work.featureId, copy.id);
  await work.addColumn(copy.id, { name: 'more', data_type: 'text' });
  const branches = { from_branch_id: work.featureId, to_branch_id: work.account.mainId };
  const { id } = await work.admin.post('/promotions', {
    ...branches,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  const merges = () => [...metadata.neighbours.data.merged.keys()].filter((name) => name.includes(`/metadata-${id}-`));
  return {
    request: request(`/promotions/${id}/promote`, {}),
    status: 200,
    expectEnd: async () => {
      const { status, actions } = await work.admin.get(`/promotions/${id}`);
      expect([status, timesOf(actions, 'promote'), timesOf(actions, 'succeed')]).toEqual(['promoted', 1, 1]);
      expectOneRequest(actions, 'promote', 'MergeRows');
      expect(merges()).toHaveLength(1);
      expect(Object.keys(await work.columns(table.id))).toEqual(['code', 'more']);
    },
  };
}

// One operation is accepted, one returned: the approval, the application and the draft of the rest
// are one request.
async function applying(): Promise<Saga> {
  const { changeRequests } = metadata.neighbours.data;
  const proposed = await work.creator.post('/change_requests', { branch_id: work.account.mainId, title: 'Rows' });
  const { id } = proposed;
  const [, returned] = changeRequests.propose(id, deployedId, ['create', 'update']);
  await work.creator.post(`/change_requests/${id}/send_request`, {});
  changeRequests.decide(id, [returned as number], 'returned');
  const { revision } = await work.admin.get(`/change_requests/${id}`);
  return {
    request: request(`/change_requests/${id}/apply`, { revision }),
    status: 200,
    expectEnd: async () => {
      const { status, actions, applied, continued_by_id } = await work.admin.get(`/change_requests/${id}`);
      expect([status, timesOf(actions, 'apply'), timesOf(actions, 'succeed')]).toEqual(['applied', 1, 1]);
      expectOneRequest(actions, 'apply', 'ApplyChangeRequest');
      expect(applied).toMatchObject([{ created: 1, updated: 0 }]);
      expect(changeRequests.applications.filter((name) => name.startsWith(`metadata-${id}-`))).toHaveLength(1);
      expect(changeRequests.requests.get(id)?.phase).toBe('closed');
      const rests = (await work.admin.get(`/change_requests?q=continues_id:eq:${id}`)).data;
      expect(rests).toMatchObject([{ id: continued_by_id, status: 'draft', counts: { operations: 1 } }]);
    },
  };
}

const refusal = 'It blocks the deployment.';
const refuse = () => {
  throw new ServiceError('validation_failed', { code: 'blocked', message: refusal });
};

// Always the steps that can't be undone: after a commit, and during a call of data. The writes
// before a commit are all rolled back the same way, so some of them suffice.
function choose(steps: string[]): number[] {
  const places = steps.map((_, i) => i + 1);
  if (everyStep) return places;
  const isMain = (place: number) => /^after|(Deployment|Rows|ChangeRequest)$/.test(steps[place - 1] as string);
  const others = places.filter((place) => !isMain(place));
  const apart = Math.ceil(others.length / maxOthers);
  const some = others.filter((_, i) => i % apart === seed % apart);
  return places.filter((place) => isMain(place) || some.includes(place));
}

async function using<T>(process: DyingProcess, use: (process: DyingProcess) => Promise<T>): Promise<T> {
  try {
    return await use(process);
  } finally {
    await process.end();
  }
}

async function expectSameAnswers({ request, status, expectEnd }: Saga): Promise<void> {
  const ask = () => postKeyed(metadata, metadata.baseUrl, request);
  const first = await eventually(async () => {
    const answer = await ask();
    expect(answer).toMatchObject({ status });
    await expectEnd(); // until then 422 may also say that another process applies it
    return answer;
  });
  expect((await ask()).body).toEqual(first.body);
  await expectEnd();
}

describe.each<[string, () => Promise<Saga>, (() => void) | undefined]>([
  ['a deployment', deploying, undefined],
  ['a deployment that data refuses', failing, refuse],
  ['a promotion', promoting, undefined],
  ['a promotion with rows', promotingRows, undefined],
  ['a change request', applying, undefined],
])('%s', (_name, given, beforeApply) => {
  it(
    'ends complete wherever metadata was killed, and the same request again gets the same answer',
    async () => {
      const start = () => startDyingProcess(metadata, beforeApply);
      const steps = await using(await start(), async (process) => {
        const saga = await given();
        const answer = await process.ask(saga.request, Number.POSITIVE_INFINITY);
        expect(answer).toMatchObject({ status: saga.status });
        await expectSameAnswers(saga);
        return [...process.steps];
      });
      expect(steps.filter((step) => step === 'after COMMIT').length).toBeGreaterThan(0);
      let kills = 0;
      for (const place of choose(steps))
        await using(await start(), async (process) => {
          const saga = await given();
          const answer = await process.ask(saga.request, place);
          // A retried transaction has its steps twice: then the process is killed at another one,
          // or gets the answer.
          if (answer === 'killed') kills += 1;
          else expect(answer).toMatchObject({ status: saga.status });
          await metadata.pool.query(`update deployment set lease_until = now() where status = 'deploying'`);
          await metadata.pool.query(`update promotion set lease_until = now() where status = 'promoting'`);
          await metadata.pool.query(`update change_request set lease_until = now() where status = 'applying'`);
          await expectSameAnswers(saga);
        });
      expect(kills).toBeGreaterThan(1);
    },
    limitMs,
  );
});

it('a bus that breaks in the middle stops neither, and gets the events of both when it is back', async () => {
  const { common } = metadata.config;
  const proxy = await startTcpProxy(common.secrets.busUrl);
  const database = await createTestDatabase('metadata');
  const secrets = { ...common.secrets, busUrl: proxy.urlOf(common.secrets.busUrl) };
  const config = { ...metadata.config, common: { ...common, secrets }, secrets: { databaseUrl: database.url } };
  const service = await createMetadata(config);
  const { httpPort } = await service.start();
  const bus = await startBus(common.secrets.busUrl, 'listener');
  try {
    const types = ['metadata.deployment.deployed', 'metadata.promotion.promoted'];
    const heard = await collectMessages(bus, 'listener.ends', types);
    const alone = { ...metadata, context: service.context, baseUrl: `http://127.0.0.1:${httpPort}` };
    const own = await givenWork(alone);
    const table = await own.table('Codes');
    const copy = await own.clone(table.id);
    await own.addColumn(copy.id, { name: 'more', data_type: 'text' });
    const promotion = await own.propose(own.admin, copy.id);
    const body = { branch_id: own.account.mainId, table_definition_ids: [table.id] };
    const deployment = await own.admin.post('/deployments', body);
    await proxy.cut();
    const { status } = await own.admin.post(`/deployments/${deployment.id}/deploy`);
    expect(status).toBe('deployed');
    expect(await own.act(own.admin, promotion.id, 'promote', {})).toMatchObject({ body: { status: 'promoted' } });
    expect(heard).toEqual([]);
    await proxy.restore();
    await eventually(() => expect(heard.map(({ type }) => type)).toEqual(types));
  } finally {
    await bus.stop();
    await service.stop();
    await proxy.stop();
    await database.drop();
  }
});
