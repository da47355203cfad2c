// kill -9 of data at every step of a deployment, with and without removals, and of a promotion with
// rows: data restarts, metadata continues, and they end deployed and promoted, each once, with all
// rows correct; the same request gets the same answer. By default a few steps, other ones each time
// (KILLED_STEPS_SEED repeats a run); KILLED_STEPS=all takes every step.
import type { Call } from '@almanac/testkit/calls/call';
import { createTestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { type KeyedRequest, postKeyed } from '../dying-process.ts';
import { type Metadata, startMetadata } from '../given.ts';
import { givenWork, type Work } from '../promotion-given.ts';
import { type DyingData, startDyingData } from '../real-data.ts';

const seed = Number(process.env.KILLED_STEPS_SEED ?? Date.now() % 1_000_000);
const everyStep = process.env.KILLED_STEPS === 'all';
const maxOthers = 1;
const rowCount = 20;

let data: DyingData;
let metadata: Metadata;
let work: Work;
let machine: Call;
let last = 0;

beforeAll(async () => {
  const keys = await createTestKeys();
  data = await startDyingData(keys);
  metadata = await startMetadata({ waitMs: 5_000 }, { keys, address: data.address });
  work = await givenWork(metadata);
  machine = data.callerFor(work.account.id);
  console.log(`KILLED_STEPS_SEED=${seed}`);
});
afterAll(async () => {
  await metadata?.stop();
  await data?.stop();
});

/** A request during which data is killed, and what holds in the end. */
type Saga = { request: KeyedRequest; expectEnd(): Promise<void> };

const columns = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true },
  { name: 'amount', data_type: 'string', length: 20 },
];

async function deploy(branch_id: number, id: number): Promise<void> {
  const deployment = await work.admin.post('/deployments', { branch_id, table_definition_ids: [id] });
  await work.admin.post(`/deployments/${deployment.id}/deploy`);
}

/** A deployed table on `main`, with rows. */
async function givenServed() {
  last += 1;
  const table = await work.table(`Table ${last}`, columns);
  await deploy(work.account.mainId, table.id);
  const operations = Array.from({ length: rowCount }, (_, n) => ({
    operation: 'create',
    record: { code: `c${n}`, amount: String(n) },
  }));
  const { status } = await machine('POST', '/api/v1/table_data/batch', { table_definition_id: table.id, operations });
  expect(status).toBe(200);
  return table;
}

type Row = { svc_sk: number; code: string; amount: string | number; more: string | null };

async function rowsOf(id: number): Promise<Row[]> {
  const { status, body } = await machine(
    'GET',
    `/api/v1/table_data?table_definition_id=${id}&per_page=1000&sort=svc_sk`,
  );
  expect(status).toBe(200);
  return body.data;
}

const requestOf = (path: string): KeyedRequest => ({
  who: { accountId: work.account.id, userId: work.admin.id },
  path,
  key: `killed-data-${last}`,
  body: {},
});

/** All attempts but the last have failed. */
function expectOneEnd(actions: { action: string }[], begun: string): void {
  const times = (name: string) => actions.filter(({ action }) => action === name).length;
  expect([times('succeed'), times('fail')]).toEqual([1, times(begun) - 1]);
}

// A deployment of this change, which ends once however often data is killed. `expectTables` checks
// its tables.
async function deploymentOf(change: object, expectTables: () => Promise<void>): Promise<Saga> {
  const { id } = await work.admin.post('/deployments', { branch_id: work.account.mainId, ...change });
  return {
    request: requestOf(`/deployments/${id}/deploy`),
    expectEnd: async () => {
      const { status, actions } = await work.admin.get(`/deployments/${id}`);
      expect(status).toBe('deployed');
      expectOneEnd(actions, 'deploy');
      await expectTables();
    },
  };
}

async function deploying(): Promise<Saga> {
  const table = await givenServed();
  const { amount } = await work.columns(table.id);
  await work.changeColumn(amount.id, { data_type: 'integer', length: null });
  await work.addColumn(table.id, { name: 'more', data_type: 'date' });
  return deploymentOf({ table_definition_ids: [table.id] }, async () => {
    const rows = await rowsOf(table.id);
    expect(rows.map(({ code, amount, more }) => [code, amount, more])).toEqual(
      Array.from({ length: rowCount }, (_, n) => [`c${n}`, n, null]),
    );
  });
}

async function removing(): Promise<Saga> {
  const table = await givenServed();
  const made = await work.table(`Made ${last}`, columns);
  const change = { table_definition_ids: [made.id], remove_table_definition_ids: [table.id] };
  return deploymentOf(change, async () => {
    expect((await machine('GET', `/api/v1/table_data?table_definition_id=${table.id}`)).status).toBe(404);
    expect((await work.admin.send('GET', `/table_definitions/${table.id}`)).status).toBe(404);
    expect(await rowsOf(made.id)).toEqual([]);
  });
}

async function promoting(): Promise<Saga> {
  const table = await givenServed();
  const target = { target_branch_id: work.featureId, include_data: true };
  const copy = await work.admin.post(`/table_definitions/${table.id}/clone`, target);
  await deploy(work.featureId, copy.id);
  const [changed, deleted] = await rowsOf(copy.id);
  const change = { table_definition_id: copy.id, record: { amount: 'changed' } };
  expect((await machine('PATCH', `/api/v1/table_data/${changed?.svc_sk}`, change)).status).toBe(200);
  const deletion = { table_definition_id: copy.id, ids: [deleted?.svc_sk] };
  expect((await machine('POST', '/api/v1/table_data/delete_records', deletion)).status).toBe(200);
  await data.create(work.account.id, copy.id, { code: 'new', amount: 'made' });
  const { id } = await work.admin.post('/promotions', {
    from_branch_id: work.featureId,
    to_branch_id: work.account.mainId,
    table_definition_ids: [copy.id],
    include_data: true,
  });
  return {
    request: requestOf(`/promotions/${id}/promote`),
    expectEnd: async () => {
      const { status, actions, rows } = await work.admin.get(`/promotions/${id}`);
      expect([status, rows]).toEqual(['promoted', [{ table: table.key, created: 1, updated: 1, deleted: 1 }]]);
      expectOneEnd(actions, 'promote');
      const expected = Array.from({ length: rowCount }, (_, n) => [`c${n}`, n === 0 ? 'changed' : String(n)]);
      expected.splice(1, 1);
      expect((await rowsOf(table.id)).map(({ code, amount }) => [code, amount])).toEqual([
        ...expected,
        ['new', 'made'],
      ]);
    },
  };
}

// Always the steps that can't be undone. The statements before a commit are all rolled back the
// same way, so some of them suffice.
function choose(steps: string[]): number[] {
  const places = steps.map((_, i) => i + 1);
  if (everyStep) return places;
  const isCommit = (place: number) => steps[place - 1]?.endsWith('commit');
  const others = places.filter((place) => !isCommit(place));
  const apart = Math.ceil(others.length / maxOthers);
  const some = others.filter((_, i) => i % apart === seed % apart);
  return places.filter((place) => isCommit(place) || some.includes(place));
}

/**
 * Repeats the request until it gets the outcome, and once more; answers whether data was killed.
 */
async function expectSameAnswers({ request, expectEnd }: Saga): Promise<boolean> {
  const ask = () => postKeyed(metadata, metadata.baseUrl, request);
  const first = await eventually(async () => {
    const answer = await ask();
    expect(answer).toMatchObject({ status: 200 });
    return answer;
  });
  const hasDied = await data.comeBack();
  await expectEnd();
  expect((await ask()).body).toEqual(first.body);
  await expectEnd();
  return hasDied;
}

it.each<[string, () => Promise<Saga>]>([
  ['a deployment', deploying],
  ['a deployment that removes a table', removing],
  ['a promotion with rows', promoting],
])(
  '%s ends whole wherever data was killed, and answers the same when it is asked for again',
  async (_name, given) => {
    const saga = await given();
    data.dieAt(Number.POSITIVE_INFINITY);
    expect(await expectSameAnswers(saga)).toBe(false);
    const steps = [...data.steps];
    let kills = 0;
    for (const place of choose(steps)) {
      const next = await given();
      data.dieAt(place);
      if (await expectSameAnswers(next)) kills += 1;
    }
    expect(kills).toBeGreaterThan(1);
  },
  900_000,
);
