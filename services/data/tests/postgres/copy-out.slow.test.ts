// COPY over one connection: its bytes, the pace of its reader, and every way in which it can end
// early.
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import { eventually } from '@almanac/testkit/eventually';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { copyOut } from '../../src/postgres/copy-out.ts';

const MB = 1024 * 1024;
const name = 'copy-out-test';
let database: TestDatabase;
let proxy: TcpProxy;
let pool: pg.Pool;
let observer: pg.Client;
/** By PostgreSQL, on all connections. */
let sentBytes = 0;

beforeAll(async () => {
  database = await createTestDatabase('copy_out');
  proxy = await startTcpProxy(database.url, () => (chunk, to) => {
    if (to === 'client') sentBytes += chunk.length;
    return false;
  });
  pool = createPool({ url: proxy.urlOf(database.url), name, max: 1, logger: createLogger('data', 'silent') });
  observer = new pg.Client({ connectionString: database.url });
  await observer.connect();
});

afterAll(async () => {
  await pool.end();
  await proxy.stop();
  await observer.end();
  await database.drop();
});

const copySql = (select: string) => `copy (${select}) to stdout with (format csv)`;
/** Far more than sockets hold, whatever the kernel gives them: some 400 MB. */
const large = copySql("select generate_series(1, 4000000), repeat('x', 100)");
const largeBytes = 4_000_000 * 100;

let begun: ReturnType<typeof copyOut> | undefined;
afterEach(() => begun?.return({ rows: 0 }));

async function begin(texts: string[], signal = new AbortController().signal) {
  const client = await pool.connect();
  await client.query('begin');
  begun = copyOut(client, texts, signal);
  return begun;
}

async function readAll(texts: string[]) {
  const copied = await begin(texts);
  const chunks: Buffer[] = [];
  let part = await copied.next();
  for (; !part.done; part = await copied.next()) chunks.push(part.value);
  return { chunks, text: Buffer.concat(chunks).toString(), rows: part.value.rows };
}

const sessions = async () =>
  (await observer.query('select pid, wait_event from pg_stat_activity where application_name = $1', [name])).rows;

/** The pool has closed the connection, and PostgreSQL has ended its statement. */
async function requireClosed() {
  expect(pool.totalCount).toBe(0);
  await eventually(async () => expect(await sessions()).toEqual([]));
}

const untilNothingIsSent = () =>
  eventually(async () => {
    const before = sentBytes;
    await sleep(200);
    expect(sentBytes).toBe(before);
  });

it('sends the rows of all statements in order, counts them, and releases the connection outside a transaction', async () => {
  const rowsOf = (from: number, to: number) => copySql(`select n from generate_series(${from}, ${to}) n`);
  const { text, rows } = await readAll([rowsOf(1, 100_000), rowsOf(1, 0), rowsOf(100_001, 250_000)]);
  expect(rows).toBe(250_000);
  expect(text).toBe(Array.from({ length: 250_000 }, (_, i) => `${i + 1}\n`).join(''));
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
  expect((await pool.query('select now() = statement_timestamp() as alone')).rows).toEqual([{ alone: true }]);
  expect((await readAll([rowsOf(1, 0)])).chunks).toEqual([]);
});

it('gives chunks of half a megabyte at least, and not much larger, whatever the size of a row', async () => {
  for (const bytes of [10, 3 * MB]) {
    const { chunks } = await readAll([
      copySql(`select repeat('x', ${bytes}) from generate_series(1, ${6 * MB} / ${bytes}) n`),
    ]);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThanOrEqual(MB / 2);
    for (const chunk of chunks) expect(chunk.length).toBeLessThan(2 * MB);
  }
});

it('reads no more than a slow reader takes, and ends the statement when the reader stops', async () => {
  const copied = await begin([large]);
  const before = sentBytes;
  const first = await copied.next();
  expect(String(first.value).startsWith('1,xxx')).toBe(true);
  await untilNothingIsSent();
  // What was sent is in the sockets: PostgreSQL waits for a reader.
  expect(sentBytes - before).toBeLessThan(largeBytes / 2);
  await eventually(async () => expect(await sessions()).toMatchObject([{ wait_event: 'ClientWrite' }]));
  await copied.return({ rows: 0 });
  await requireClosed();
});

it('ends the statement when it is aborted, with the reason', async () => {
  const abort = new AbortController();
  const copied = await begin([large], abort.signal);
  await copied.next();
  abort.abort(new Error('the caller has left'));
  await expect(copied.next()).rejects.toThrow('the caller has left');
  await requireClosed();
});

type Ending = [string, text: string, breaks: () => unknown, error: RegExp];
const endings: Ending[] = [
  ['a statement fails', copySql('select 1 / (500000 - generate_series(1, 1000000))'), () => {}, /division by zero/],
  [
    'its session is ended',
    large,
    () => observer.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name]),
    /terminat/,
  ],
  [
    'its connection is cut',
    large,
    async () => {
      await proxy.cut();
      await proxy.restore();
    },
    /terminat|ECONNRESET/,
  ],
];

it.each(endings)(
  'fails in the middle when %s, and never ends as if it were complete',
  async (_, text, breaks, error) => {
    // The statement after it would succeed.
    const copied = await begin([text, copySql('select 1')]);
    expect((await copied.next()).done).toBe(false);
    await breaks();
    await expect(
      (async () => {
        for (;;) if ((await copied.next()).done) return;
      })(),
    ).rejects.toThrow(error);
    await requireClosed();
    expect((await readAll([copySql('select 1')])).text).toBe('1\n');
  },
);

it('fails when the connection is cut after the last row and before the commit', async () => {
  const copied = await begin([copySql('select 1')]);
  expect(String((await copied.next()).value)).toBe('1\n');
  await proxy.cut();
  await proxy.restore();
  await expect(copied.next()).rejects.toThrow(/terminat|ECONNRESET|not queryable/);
  await requireClosed();
});
