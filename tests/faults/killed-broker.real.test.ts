// RabbitMQ fails. First by kill -9 at every step of a promotion and its deployment that involves
// it: a message is published, confirmed, delivered or acknowledged. Both end promoted and deployed,
// once; the same request again has the same answer; each event and each mail arrives once in the
// end. By default a few of the steps, other ones each time (BROKER_STEPS_SEED repeats a run);
// BROKER_STEPS=all kills at every one. Then by a full disk, when it accepts no message.

import type { Answer, Api } from '@almanac/api-client/api';
import { createApi, poll } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import type { Bus, BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { startTcpProxy, type TcpProxy, type Watch } from '@almanac/testkit/network/tcp-proxy';
import { type Account, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { type RunningSystem, readReady, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { processCount } from '../support/killing.ts';
import { type OwnBroker, startOwnBroker } from '../support/own-broker.ts';

const seed = Number(process.env.BROKER_STEPS_SEED ?? Date.now() % 1_000_000);
const everyStep = process.env.BROKER_STEPS === 'all';
const stepsAtMost = 5;
const withinMs = 240_000; // a broker and all services reconnect

const eventTypes = (noun: string, end: string) =>
  ['created', 'submitted', end].map((word) => `metadata.${noun}.${word}`);

type Made = { id: number };
type Ended = { id: number; status: string; actions: { action: string }[] };

let broker: OwnBroker;
let proxy: TcpProxy;
let system: RunningSystem;
let bus: Bus;
let received: BusMessage[];
let comesBack = Promise.resolve();

/** The steps since it was last emptied. */
const passed: string[] = [];
let deadly: string | undefined;

// True: the broker is killed before the message arrives.
function reach(step: string): boolean {
  passed.push(step);
  if (step !== deadly) return false;
  deadly = undefined;
  broker.kill();
  comesBack = broker.restart();
  comesBack.catch(() => {}); // awaited below
  return true;
}

const words = {
  target: { comes: 'published', answered: 'confirmed' },
  client: { comes: 'delivered', answered: 'acknowledged' },
} as const;
const longestType = 80;

// For each connection: finds messages by their JSON, of which a chunk may hold several or a part of
// one, and takes the other side's next chunk as their confirmation.
function watchMessages(): Watch {
  const unanswered = { target: [] as string[], client: [] as string[] };
  const begun = { target: '', client: '' };
  return (chunk, to) => {
    const from = to === 'target' ? 'client' : 'target';
    const text = begun[to] + chunk.toString('latin1');
    const found = [...text.matchAll(/"type":"(metadata\.(?:promotion|deployment|mail)\.\w+)"/g)];
    const read = found.at(-1);
    begun[to] = text.slice(read ? read.index + read[0].length : 0).slice(-longestType);
    const types = found.map(([, type]) => String(type));
    const answers = unanswered[from].splice(0).map((type) => `${type} is ${words[from].answered}`);
    unanswered[to].push(...types);
    return [...answers, ...types.map((type) => `${type} is ${words[to].comes}`)].some(reach);
  };
}

beforeAll(async () => {
  console.log(`BROKER_STEPS_SEED=${seed}`);
  broker = await startOwnBroker();
  proxy = await startTcpProxy(broker.url, watchMessages);
  system = await startSystem({ env: { ALMANAC_BUS_URL: proxy.urlOf(broker.url) } });
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
  bus = await startBus(broker.url, 'listener');
  received = await collectMessages(bus, 'listener.ends', [
    ...eventTypes('promotion', 'promoted'),
    ...eventTypes('deployment', 'deployed'),
  ]);
}, 600_000);

afterAll(async () => {
  deadly = undefined;
  await comesBack.catch(() => {});
  await bus?.stop();
  await system?.stop();
  await proxy?.stop();
  await broker?.stop();
}, 300_000);

const untilUp = () =>
  eventually(
    () => {
      expect(readReady(system.home)).toHaveLength(processCount);
      expect(bus.isReady()).toBe(true);
    },
    { withinMs },
  );

/**
 * A POST with an Idempotency-Key: repeated until it has an outcome; `again` repeats it once more.
 */
async function post<T>(api: Api, path: string, body: unknown = {}): Promise<{ again(): Promise<Answer<T>>; body: T }> {
  const headers = { 'Idempotency-Key': unique() };
  const ask = () =>
    eventually(
      async () => {
        const answer = await api.send<T>('POST', path, body, { headers });
        expect([502, 503, 504]).not.toContain(answer.status);
        return answer;
      },
      { withinMs, everyMs: 200 },
    );
  const { status, body: made } = await ask();
  expect([path, status, made]).toEqual([path, path.split('/').length > 2 ? 200 : 201, made]);
  return { again: ask, body: made };
}

/**
 * A table on `main` and its copy with one more column; a user who proposes, and one who approves.
 */
async function givenChange() {
  const account = await givenAccount();
  const creator = await account.person();
  const table = await givenDeployedTable(creator);
  const approver = await givenApprover(account, creator, table.branchId);
  const branch = await creator.post<Made>('/branches', { branch: { name: `Work ${unique()}` } });
  const copy = await creator.post<Made>(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
  await creator.post('/column_definitions', { table_definition_id: copy.id, name: 'more', data_type: 'date' });
  return { account, creator, approver, table, branch, copy };
}

async function givenApprover(account: Account, admin: Api, branchId: number) {
  const [email, password] = [`approver-${unique()}@example.com`, `Password ${unique()}`];
  const { id } = await admin.post<Made>('/users', { email, password, license_type: 'developer' });
  type Group = { id: number; name: string; resource_type: string; resource_id: number };
  const ofBranch = ({ name, resource_type, resource_id }: Group) =>
    resource_type === 'branch' && resource_id === branchId && name.includes('Approvers');
  const { data } = await poll(
    () => admin.get<{ data: Group[] }>('/user_groups?per_page=1000'),
    (groups) => groups.data.some(ofBranch),
  );
  await admin.post('/user_group_assignments', { user_id: id, user_group_id: data.find(ofBranch)?.id });
  const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
  return { email, api: createApi(account.baseUrl, access_token) };
}

/** The subjects of the mails about promotions and deployments to this address. */
async function mailsTo(email: string): Promise<string[]> {
  const text = await (await fetch(`${system.baseUrl}/dev/mail`)).text();
  return [...text.matchAll(/<li>.*?<\/li>/gs)]
    .filter(([item]) => item.includes(email))
    .map(([item]) => />([^<]*)<\/a>/.exec(item)?.[1] ?? '')
    .filter((subject) => /promotion|deployment/.test(subject))
    .sort();
}

const eventsOf = (noun: 'promotion' | 'deployment', { id }: Made) =>
  received
    .filter(({ type, payload }) => type.startsWith(`metadata.${noun}.`) && payload[`${noun}_id`] === id)
    .map(({ type }) => type);

const asked = ['A deployment to main waits for your approval', 'A promotion to main waits for your approval'];
const ended = ['Your deployment to main was deployed', 'Your promotion to main was promoted'];

/**
 * Proposes, requests approval, promotes, and the same for the deployment; checks the final state.
 */
async function walk(): Promise<void> {
  const { account, creator, approver, table, branch, copy } = await givenChange();
  const tables = { from_branch_id: branch.id, to_branch_id: table.branchId, table_definition_ids: [copy.id] };
  passed.length = 0;
  const proposed = await post<Made>(creator, '/promotions', tables);
  const promotionPath = `/promotions/${proposed.body.id}`;
  await post(creator, `${promotionPath}/send_request`);
  const promoted = await post<Ended>(approver.api, `${promotionPath}/promote`);
  expect(promoted.body.status).toBe('promoted');
  const wish = { branch_id: table.branchId, table_definition_ids: [table.id] };
  const wished = await post<Made>(creator, '/deployments', wish);
  const deploymentPath = `/deployments/${wished.body.id}`;
  await post(creator, `${deploymentPath}/send_request`);
  const deployed = await post<Ended>(approver.api, `${deploymentPath}/deploy`);
  expect(deployed.body.status).toBe('deployed');
  await eventually(
    async () => {
      expect(eventsOf('promotion', proposed.body)).toEqual(eventTypes('promotion', 'promoted'));
      expect(eventsOf('deployment', wished.body)).toEqual(eventTypes('deployment', 'deployed'));
      expect(await mailsTo(approver.email)).toEqual(asked);
      expect(await mailsTo(account.admin.email)).toEqual([...asked, ...ended]); // approves too, and is notified of the end
    },
    { withinMs, everyMs: 200 },
  );
  deadly = undefined;
  await comesBack;
  await untilUp();
  for (const { again, body } of [promoted, deployed]) {
    const answer = await again();
    expect([answer.status, answer.body]).toEqual([200, body]);
    expect(answer.body.actions.map(({ action }) => action)).toHaveLength(4);
  }
  const { record } = await creator.post('/table_data', {
    table_definition_id: table.id,
    record: { code: 'CH', more: '2026-11-21' },
  });
  expect(record).toMatchObject({ code: 'CH', more: '2026-11-21' });
}

// A few of the steps, spread over all of them.
function choose(steps: string[]): string[] {
  if (everyStep) return steps;
  return Array.from(
    { length: stepsAtMost },
    (_, i) => steps[(seed + i * Math.ceil(steps.length / stepsAtMost)) % steps.length] as string,
  );
}

it('a promotion and its deployment are done once, and announced once, wherever the broker is killed', async () => {
  await walk();
  const steps = [...new Set(passed)].sort();
  expect(steps).toEqual(
    expect.arrayContaining(
      ['published', 'confirmed', 'delivered', 'acknowledged'].map((word) => `metadata.mail.requested is ${word}`),
    ),
  );
  let kills = 0;
  for (const step of new Set(choose(steps))) {
    deadly = step;
    await walk();
    if (passed.includes(step)) kills += 1;
    console.log(`killed when ${step}`);
  }
  expect(kills).toBeGreaterThan(1);
}, 3_600_000);

it('a broker whose disk is full blocks no write, and each write is announced once when there is room', async () => {
  const creator = await (await givenAccount()).person();
  const table = await givenDeployedTable(creator);
  await untilUp();
  await broker.control('set_disk_free_limit', '1000000GB'); // more than there is
  await eventually(async () => expect(await broker.control('eval', 'rabbit_alarm:get_alarms().')).toContain('disk'));
  await creator.post('/column_definitions', { table_definition_id: table.id, name: 'more', data_type: 'date' });
  const wish = { branch_id: table.branchId, table_definition_ids: [table.id] };
  const wished = await creator.post<Made>('/deployments', wish);
  const { status } = await creator.post<Ended>(`/deployments/${wished.id}/deploy`);
  expect(status).toBe('deployed');
  const record = { code: 'CH', more: '2026-11-21' };
  expect(await creator.post('/table_data', { table_definition_id: table.id, record })).toMatchObject({ record });
  expect(readReady(system.home)).toHaveLength(processCount);
  expect(eventsOf('deployment', wished)).toEqual([]);
  await broker.control('set_disk_free_limit', '1MB');
  const all = ['metadata.deployment.created', 'metadata.deployment.deployed'];
  await eventually(() => expect(eventsOf('deployment', wished)).toEqual(all), { withinMs });
}, 600_000);
