import { connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, createTestDatabase, startPostgres, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { holdInstant } from './instant.ts';

const anyInstant = { quietMs: 0, settleWithinMs: 0, withinMs: 120_000 };
const lateMs = 20;

let further: Cluster;
let near: TestDatabase;
let far: TestDatabase;
let late: Server;

/** Statements arrive some time after they were sent. */
function startLateWay(target: URL): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.on('data', (chunk) => setTimeout(() => upstream.write(chunk), lateMs));
    upstream.pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

const portOf = (server: Server) => (server.address() as { port: number }).port;
const run = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
};

beforeAll(async () => {
  further = await startPostgres();
  near = await createTestDatabase('near');
  far = await createTestDatabase('far', { clusterUrl: further.url });
  late = await startLateWay(new URL(far.url));
  for (const { url } of [near, far])
    await run(
      url,
      'create table counter (n int); insert into counter values (0); create table outbox (id bigserial primary key)',
    );
});
afterAll(async () => {
  late?.close();
  await near?.drop();
  await further?.stop();
});

const databases = () => [
  { name: 'near', url: near.url },
  { name: 'far', url: Object.assign(new URL(far.url), { port: portOf(late) }).href },
];

describe('one instant of two servers', () => {
  it('shows nothing of the second that depends on what it does not show of the first', async () => {
    const writers = [near, far].map(({ url }) => new pg.Client({ connectionString: url }));
    await Promise.all(writers.map((client) => client.connect()));
    let writing = true;
    const write = async () => {
      for (let n = 1; writing; n += 1) {
        for (const client of writers) await client.query('update counter set n = $1', [n]);
        await sleep(Math.random() * 10 * lateMs);
      }
    };
    const written = write();
    try {
      for (let i = 0; i < 10; i += 1) {
        const instant = await holdInstant(databases(), anyInstant);
        try {
          const counters = await Promise.all(
            instant.databases.map(async ({ sql }) => (await sql('select n from counter')).rows[0]?.n as number),
          );
          const [first, second] = counters as [number, number];
          expect([first, first - 1]).toContain(second);
        } finally {
          await instant.release();
        }
      }
    } finally {
      writing = false;
      await written;
      await Promise.all(writers.map((client) => client.end()));
    }
  });

  it('is settled when no outbox holds a message and none was written for a while', async () => {
    const isSettled = async (patience = anyInstant) => {
      const instant = await holdInstant(databases(), patience);
      await instant.release();
      return instant.isSettled;
    };
    expect(await isSettled()).toBe(true);
    await run(far.url, 'insert into outbox default values');
    expect(await isSettled()).toBe(false);
    await run(far.url, 'delete from outbox');
    expect(await isSettled({ ...anyInstant, quietMs: 3_600_000 })).toBe(false);
    expect(await isSettled({ quietMs: 100, settleWithinMs: 60_000, withinMs: 120_000 })).toBe(true);
  });

  it('can be read by other sessions, regardless of concurrent writes', async () => {
    const instant = await holdInstant(databases(), anyInstant);
    const other = new pg.Client({ connectionString: near.url });
    await other.connect();
    try {
      const [{ snapshot, sql }] = instant.databases as [(typeof instant.databases)[number]];
      const { rows } = await sql('select n from counter');
      await run(near.url, 'update counter set n = n + 1000');
      await other.query(
        `begin isolation level repeatable read; set transaction snapshot ${pg.escapeLiteral(snapshot)}`,
      );
      expect((await other.query('select n from counter')).rows).toEqual(rows);
    } finally {
      await other.end();
      await instant.release();
    }
  });

  it('is refused in words without a password where a database is away', async () => {
    const away = { name: 'far', url: 'postgres://reader:s3cret@127.0.0.1:1/far' };
    await expect(holdInstant([...databases(), away], anyInstant)).rejects.toThrow(
      /^The database of far can't be reached/,
    );
    await expect(holdInstant([away], anyInstant)).rejects.not.toThrow(/s3cret/);
  });
});
