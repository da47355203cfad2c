// Readers that follow changes miss nothing, whatever is killed: copies made of change feeds alone
// equal their table, the stream of events has the log without a gap or a repetition, and webhooks
// bring each event, another time only with the same id. Beside eight writers, with imports,
// deployments, promotions and restorations. FOLLOW_SEED repeats a run; FOLLOW_RUNS: the number of
// runs (1).
import { ApiError } from '@almanac/api-client/api';
import type { Client, Event, Row } from '@almanac/client';
import { eventually } from '@almanac/testkit/eventually';
import { givenReceiver, type Receiver } from '@almanac/testkit/messaging/webhook-receiver';
import { randomOf } from '@almanac/testkit/random';
import { givenAccount } from '@almanac/testkit/system/builders';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { CopiesOfFeeds } from './copies/copies-of-feeds.ts';
import { followStream, readLog } from './copies/followed-log.ts';
import { columns, ImportEnded, Source } from './copies/source.ts';
import { fetchPatiently, isEverythingUp, killDuring, until } from './killing.ts';

const seed = Number(process.env.FOLLOW_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.FOLLOW_RUNS ?? 1);
const writers = 8;
const actsAtLeast = 200;
const withinMs = 300_000; // webhooks that failed are repeated later and later

/** `victims`: what is killed, each once in a run, and comes back; `env`: of the system. */
type Wish = { victims: Record<string, () => Promise<void>>; env?: () => Promise<Record<string, string>> };

/** Declares the test, on a system of its own. */
export function followedChanges({ victims, env = async () => ({}) }: Wish): void {
  let system: RunningSystem;
  let fetchAsBefore: () => void;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await givenReceiver();
    system = await startSystem({ env: { JOBS_WEBHOOK_NETWORKS: '127.0.0.0/8', ...(await env()) } });
    process.env.ALMANAC_BASE_URL = system.baseUrl;
    process.env[systemHomeName] = system.home;
    fetchAsBefore = fetchPatiently();
  }, 600_000);

  afterAll(async () => {
    fetchAsBefore?.();
    await system?.stop();
    await receiver?.stop();
  }, 300_000);

  it.each(Array.from({ length: runs }, (_, run) => seed + run))(
    'copies and logs miss nothing and repeat nothing (FOLLOW_SEED=%i)',
    async (runSeed) => {
      await until('everything is up', isEverythingUp);
      const account = await givenAccount({ plan: 'enterprise' });
      const [api, client] = [await account.person(), await account.client()];
      const { secret } = await api.post<{ secret: string }>('/webhook_endpoints', {
        url: receiver.url,
        event_types: ['*'],
      });
      receiver.received.length = 0;
      const begin = await lastOf(client);
      const { source } = await Source.create(api, randomOf(runSeed));
      const copies = await CopiesOfFeeds.begin(client, { table_definition_id: source.table.id });
      const live: Event[] = [];
      const leaving = new AbortController();
      const following = Promise.all([copies.follow(leaving.signal), followStream(api, begin, live, leaving.signal)]);
      following.catch(() => {}); // awaited below
      const compare = async () => {
        await eventually(() => expectCopied(client, source, copies), { withinMs });
        await expectAnnounced(client, source, begin);
        await eventually(
          async () => {
            const log = await readLog(client, begin);
            await expectEnds(client, log);
            expect(live.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
            expectDelivered({ receiver, secret, begin }, log);
          },
          { withinMs },
        );
      };
      try {
        const done = new Map<string, number>();
        const killed = await killDuring((more) => write(source, done, more), victims, { seed: runSeed, rounds: 1 });
        expect(new Set(killed)).toEqual(new Set(Object.keys(victims)));
        console.log(`killed: ${killed}; ${[...done].map(([name, count]) => `${count} × ${name}`).join(', ')}`);
        await Promise.race([following, compare()]);
      } finally {
        leaving.abort();
        await following;
        copies.close();
      }
    },
    3_600_000,
  );
}

const lastOf = async (client: Client) => (await readLog(client, 0)).at(-1)?.id ?? 0;

/** Writes in eight lanes, one of which changes columns and promotes; counts what was done. */
async function write(source: Source, done: Map<string, number>, shouldContinue: () => boolean): Promise<void> {
  let acts = 0;
  const lane = async (_: unknown, place: number) => {
    while (shouldContinue() || acts < actsAtLeast) {
      acts += 1;
      const name = await source.act(place === 0 ? 'wide' : 'rows').catch((error: unknown) => {
        if (isRefusal(error)) return 'refused';
        throw error;
      });
      done.set(name, (done.get(name) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: writers }, lane));
}

// Another writer was faster, or a repeated call was done before; imports can fail by both.
const isRefusal = (error: unknown) => error instanceof ImportEnded || (error instanceof ApiError && error.status < 500);

async function expectCopied(client: Client, source: Source, copies: CopiesOfFeeds): Promise<void> {
  const rows: Row[] = [];
  for await (const row of client.rows({ table_definition_id: source.table.id })) rows.push(row);
  expect(rows.length).toBeGreaterThan(0);
  // A deployment that changes the scale of a column changes no number, only its decimal places.
  const numberOf = (value: unknown) => (value === null || value === undefined ? null : Number(value));
  const cellOf = (row: Record<string, unknown>, name: string) =>
    name === 'amount' ? numberOf(row[name]) : (row[name] ?? null);
  const names = ['svc_sk', 'svc_version', ...columns.map(({ name }) => name)].filter(
    (name) => name in (rows[0] as Row),
  );
  const shown = (list: Record<string, unknown>[]) =>
    list.map((row) => JSON.stringify(names.map((name) => cellOf(row, name)))).toSorted();
  const there = shown(rows);
  for (const [name, copied] of Object.entries(copies.rows()))
    expect({ name, rows: shown(copied) }).toEqual({ name, rows: there });
}

type Announced = { changed_after: string; changed_until: string };

/**
 * The events of the table, each of which begins where one before has ended, reach the end. In the
 * log their order is another one where a process was killed: its message was redelivered later
 * (docs/how-to/receive-webhooks.md says what a copy does then).
 */
async function expectAnnounced(client: Client, { table }: Source, begin: number): Promise<void> {
  await eventually(
    async () => {
      const ranges = (await readLog(client, begin))
        .filter(({ type, resource }) => type === 'rows.changed' && resource.id === table.id)
        .map(({ data }) => data as Announced)
        .toSorted((a, b) => Date.parse(a.changed_after) - Date.parse(b.changed_after));
      expect(ranges.length).toBeGreaterThan(1);
      expect(ranges.slice(1).map(({ changed_after }) => changed_after)).toEqual(
        ranges.slice(0, -1).map(({ changed_until }) => changed_until),
      );
      const after = ranges.at(-1)?.changed_until as string;
      const { data } = await client.get('/table_data/changes', {
        params: { query: { table_definition_id: table.id, after } },
      });
      expect(data).toEqual([]);
    },
    { withinMs },
  );
}

/** Whatever came to an end has an event of it, once. */
async function expectEnds(client: Client, log: Event[]): Promise<void> {
  for (const [type, path, isEnd] of [
    ['import.finished', '/imports', /^(completed|failed|cancelled)/],
    ['deployment.deployed', '/deployments', /^deployed$/],
    ['promotion.promoted', '/promotions', /^promoted$/],
  ] as const) {
    const ended: number[] = [];
    for await (const { id, status } of client.list(path)) if (isEnd.test(status)) ended.push(id);
    const logged = log.filter((event) => event.type === type).map(({ resource }) => resource.id as number);
    const inOrder = (ids: number[]) => ids.toSorted((a, b) => a - b);
    expect([type, inOrder(logged)]).toEqual([type, inOrder(ended)]);
  }
}

type Delivery = { receiver: Receiver; secret: string; begin: number };

/** Each event came, signed; a repeated one is the same; those of a table are in order. */
function expectDelivered({ receiver, secret, begin }: Delivery, log: Event[]): void {
  const first = new Map<number, string>();
  for (const message of receiver.received.filter(({ event }) => event.id > begin)) {
    receiver.verify(secret, message);
    const { changes: _rows, ...event } = message.event;
    const text = JSON.stringify(event);
    expect([event.id, first.get(event.id) ?? text]).toEqual([event.id, text]);
    first.set(event.id, text);
  }
  expect([...first.keys()].toSorted((a, b) => a - b)).toEqual(log.map(({ id }) => id));
  const byTable = Map.groupBy(
    log.filter(({ type }) => type === 'rows.changed'),
    ({ resource }) => resource.id,
  );
  const arrived = [...first.keys()];
  for (const events of byTable.values()) {
    const places = events.map(({ id }) => arrived.indexOf(id));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
}
