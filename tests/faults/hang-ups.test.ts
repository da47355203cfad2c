// Thousands of clients that hang up at every stage of a call, and clients that stall: no socket,
// memory or call of the allowance is leaked, at the gateway or at any service. HANG_UPS: how many
// (default 2,000, a tenth of them stalled).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  baseUrl,
  type DeployedTable,
  givenAccount,
  givenDeployedTable,
  unique,
} from '@almanac/testkit/system/builders';
import { openStores, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem, readProcesses } from '@almanac/testkit/system/system';
import { residentMegabytes, socketsOf } from '../support/process-costs.ts';

const clients = Number(process.env.HANG_UPS ?? 2_000);
const atOnce = 50;
/** The growth of a process that is no leak: uncollected garbage and filled caches. */
const moreMegabytes = 100;
const moreSockets = 10;
/**
 * Connections between services that a burst needed are kept for 75 s; their number depends on the
 * machine.
 */
const keptMs = 120_000;

let system: LocalSystem;
let stores: Stores;
let account: Account;
let api: Api;
let table: DeployedTable;
let other: Api;

beforeAll(async () => {
  system = await givenLocalSystem();
  stores = await openStores(system.home);
  account = await givenAccount({ plan: 'enterprise' });
  api = await account.person();
  other = await (await givenAccount()).machine();
  table = await givenDeployedTable(api, {
    columns: [
      { name: 'code', data_type: 'string', length: 20 },
      { name: 'note', data_type: 'text' },
    ],
  });
  const operations = Array.from({ length: 400 }, (_, n) => ({
    operation: 'create',
    record: { code: `c${n}`, note: 'x'.repeat(2_000) },
  }));
  await api.post('/table_data/batch', { table_definition_id: table.id, operations });
});
afterAll(async () => {
  await stores?.close();
  await system?.stop();
});

type Stage = { name: string; hangUp(number: number): Promise<void> };

const body = (number: number, name = `Hung up ${number} ${unique()}`) => JSON.stringify({ domain: { name } });

const head = (method: string, path: string, ...lines: string[]) =>
  [
    `${method} /api/v1${path} HTTP/1.1`,
    'Host: almanac.test',
    `Authorization: Bearer ${api.token}`,
    ...lines,
    '',
    '',
  ].join('\r\n');

const withBody = (path: string, text: string, sent: number, method = 'POST') =>
  head(method, path, 'Content-Type: application/json', `Content-Length: ${text.length}`) + text.slice(0, sent);

/** Writes of each service, by turns. */
const writes: ((number: number) => [path: string, body: string])[] = [
  (n) => ['/domains', body(n)],
  () => [
    '/table_data',
    JSON.stringify({ table_definition_id: table.id, record: { code: 'w', note: 'x'.repeat(5_000) } }),
  ],
  (n) => ['/user_groups', JSON.stringify({ user_group: { name: `Hung up ${n} ${unique()}` } })],
  () => ['/imports', JSON.stringify({ branch_id: table.branchId, correlation_code: `hung-up-${unique()}` })],
];
const reads = [
  () => `/table_data?table_definition_id=${table.id}&per_page=1000`,
  () => '/domains',
  () => '/usage',
  () => '/users',
  () => '/imports',
];
const turn = <T>(list: readonly T[], number: number) => list[number % list.length] as T;

// Half of them close with FIN, half with RST.
async function leave(socket: Socket, number: number): Promise<void> {
  const closed = once(socket, 'close');
  if (number % 2 === 0) socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

async function open(text: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl());
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}); // the server may close first
  await once(socket, 'connect');
  await new Promise((done) => socket.write(text, done));
  return socket;
}

const hangUpAfter = (text: (number: number) => string) => async (number: number) =>
  leave(await open(text(number)), number);

const stages: Stage[] = [
  { name: 'in the head', hangUp: hangUpAfter((n) => withBody(...turn(writes, n)(n), 0).slice(0, -10)) },
  { name: 'before the body', hangUp: hangUpAfter((n) => withBody(...turn(writes, n)(n), 0)) },
  { name: 'in the body', hangUp: hangUpAfter((n) => withBody(...turn(writes, n)(n), 20)) },
  {
    name: 'in a file',
    hangUp: hangUpAfter(() => withBody(`/imports/${2 ** 31 - 1}/tables/1/file`, 'x'.repeat(100_000), 50_000, 'PUT')),
  },
  { name: 'before the answer to a read', hangUp: hangUpAfter((n) => head('GET', turn(reads, n)())) },
  {
    name: 'in the answer',
    hangUp: async (number) => {
      const socket = await open(head('GET', turn(reads, 0)()));
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      await leave(socket, number);
    },
  },
  {
    name: 'between two answers',
    hangUp: async (number) => {
      const socket = await open(head('GET', '/domains').repeat(3));
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      await leave(socket, number);
    },
  },
];

const beforeAnswerToWrite: Stage = {
  name: 'before the answer to a write',
  hangUp: hangUpAfter((n) => {
    const [path, text] = turn(writes, n)(n);
    return withBody(path, text, text.length);
  }),
};

async function inWaves(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** As many successful calls at once, so that pools reach their full size. */
const warm = () =>
  inWaves(300, async (number) => {
    const path = turn(reads, number)();
    const answer = await fetch(`${baseUrl()}/api/v1${path}`, { headers: { Authorization: `Bearer ${api.token}` } });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  });

const held = (measure: (pid: number) => number) =>
  Object.fromEntries(
    Object.entries(readProcesses(system.home)).flatMap(([name, pid]) =>
      name === 'postgres' ? [] : [[name, measure(pid)]],
    ),
  );

const expectNoMore = (before: Record<string, number>, measure: (pid: number) => number, more: number) =>
  eventually(
    () => {
      const now = held(measure);
      const grown = Object.entries(now).filter(([name, value]) => value > (before[name] as number) + more);
      expect(grown.map(([name, value]) => ({ name, before: before[name], now: value }))).toEqual([]);
    },
    { everyMs: 500, withinMs: keptMs },
  );

const written = async () => {
  const [domains, groups, imports] = await Promise.all(
    ['/domains', '/user_groups', '/imports'].map(
      async (path) => (await api.get(`${path}?per_page=1`)).meta.total_count as number,
    ),
  );
  const grid = { table_definition_id: table.id, startRow: 0, endRow: 1 };
  return { domains, groups, imports, rows: (await api.post('/table_data/grid', grid)).rowCount as number };
};

it('clients that hang up leave nothing behind, and incomplete requests are not executed', async () => {
  const pids = readProcesses(system.home);
  await warm();
  for (const stage of [...stages, beforeAnswerToWrite]) await inWaves(2 * atOnce, stage.hangUp); // fills the caches
  await expectStill();
  const before = { sockets: held(socketsOf), memory: held(residentMegabytes), written: await written() };
  for (const stage of stages) {
    await inWaves(Math.ceil(clients / (stages.length + 1)), stage.hangUp);
    expect({ stage: stage.name, status: (await other.send('GET', '/account')).status }).toEqual({
      stage: stage.name,
      status: 200,
    });
  }
  await expectStill();
  expect(await written()).toEqual(before.written);
  await inWaves(Math.ceil(clients / (stages.length + 1)), beforeAnswerToWrite.hangUp);
  await expectStill();
  await expectNoMore(before.sockets, socketsOf, moreSockets);
  await expectNoMore(before.memory, residentMegabytes, moreMegabytes);
  await expectNoLease();
  expect(readProcesses(system.home)).toEqual(pids);
});

/** All work has ended: no transaction is open, and every domain has the groups that follow it. */
async function expectStill(): Promise<void> {
  await eventually(async () => {
    const seen = await written();
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Requests from before these reads have their connection by now, or are done.
    const [begun] = await stores.query(
      'identity',
      `select count(*)::int as transactions,
         (select count(distinct resource_id)::int from user_group where account_id = $1 and resource_type = 'domain') as domains
       from pg_stat_activity where xact_start is not null and usename <> current_user`,
      [account.id],
    );
    expect(begun).toEqual({ transactions: 0, domains: seen.domains });
    expect(await written()).toEqual(seen);
  });
}

// The gateway returns unused calls, so nothing stays reserved, and the counted calls are the booked
// ones.
async function expectNoLease(): Promise<void> {
  await eventually(
    async () => {
      const [month] = await stores.query(
        'billing',
        `select reserved::int, calls = (select sum(calls) from daily_usage d where d.account_id = m.account_id) as is_written_down,
           (select count(*)::int from call_lease l where l.account_id = m.account_id and closed_at is null) as leases
         from monthly_usage m where account_id = $1`,
        [account.id],
      );
      expect(month).toEqual({ reserved: 0, is_written_down: true, leases: 0 });
    },
    { everyMs: 500, withinMs: 120_000 },
  );
}

it('stalled clients are disconnected, and others are served during this', async () => {
  const pids = readProcesses(system.home);
  await warm();
  const before = held(socketsOf);
  const [path, text] = turn(writes, 0)(0);
  const slowHead = withBody(path, text, 0).slice(0, -10);
  const count = Math.ceil(clients / 10);
  const sockets = await Promise.all([
    ...Array.from({ length: count }, () => open(slowHead)),
    ...Array.from({ length: count }, () => open(withBody(path, text, 5))),
    ...Array.from({ length: count }, () => open('')),
    ...Array.from({ length: 4 }, () => open(`GET /openapi.json HTTP/1.1\r\nHost: almanac.test\r\n\r\n`.repeat(60))),
  ]);
  const slow = sockets.slice(0, 3 * count);
  for (const socket of slow) socket.resume(); // the others request much, read nothing, and never notice the disconnect
  // A byte now and then is no progress.
  const slowBytes = setInterval(() => {
    for (const socket of slow.slice(0, 2 * count)) if (!socket.destroyed) socket.write('x');
  }, 2_000);
  try {
    await eventually(
      async () => {
        expect((await other.send('GET', '/account')).status).toBe(200);
        expect(slow.filter(({ closed }) => !closed).length).toBe(0);
      },
      { everyMs: 500, withinMs: 120_000 },
    );
  } finally {
    clearInterval(slowBytes);
  }
  await expectNoMore(before, socketsOf, moreSockets);
  for (const socket of sockets) socket.destroy();
  expect(readProcesses(system.home)).toEqual(pids);
});
