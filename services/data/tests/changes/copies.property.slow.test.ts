// Copies that are made of feeds alone, beside concurrent writers, loads, deployments and slow
// transactions, equal the table: as of each mark that they have reached, and at the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '@almanac/testkit/random';
import pg from 'pg';
import { load } from '../files.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { marksPassed, patch, remove, restore, rowsAsOf } from '../versions.ts';
import { type Change, CopyById, CopyByKey, CopyOfVersions, cursorOf, pageOf } from './feed.ts';

const seed = Number(process.env.FEED_SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.FEED_SECONDS ?? 20);
const id = 1;

let net: DataNet;
const random = randomOf(seed);
const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length)];

const table = (version: number, scale: number): TableInput => ({
  id,
  version,
  columns: [
    { name: 'code', length: 2, is_primary_key: true },
    { name: 'part', data_type: 'integer', is_primary_key: true },
    { name: 'name', length: 20 },
    { name: 'amount', data_type: 'decimal', length: 10, scale },
  ],
});

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [table(1, 2)]);
});

afterAll(() => net.stop());

type Row = { svc_sk: number; code: string; part: number };

const key = () => ({ code: pick(['a', 'b', 'c']), part: random(4) });
const values = () => ({ name: `n${random(1000)}`, amount: random(10_000) / 100 });

async function rowsOf(deleted = false): Promise<Row[]> {
  const query = `table_definition_id=${id}&per_page=1000${deleted ? '&include_deleted=true&q=svc_is_deleted:eq:true' : ''}`;
  return (await net.call('GET', `/api/v1/table_data?${query}`)).body.data;
}

async function some(then: (row: Row) => Promise<unknown>): Promise<void> {
  const row = pick(await rowsOf());
  if (row) await then(row);
}

const create201 = (record: object) => net.call('POST', '/api/v1/table_data', { table_definition_id: id, record });

// A call may be refused: another writer has the key or has deleted the row.
const actions: (() => Promise<unknown>)[] = [
  () => create201({ ...key(), ...values() }),
  () => some(({ svc_sk }) => patch(net.call, id, svc_sk, values())),
  () => some(({ svc_sk }) => patch(net.call, id, svc_sk, key())),
  () => some(({ svc_sk }) => remove(net.call, id, [svc_sk])),
  () =>
    some(async ({ svc_sk, code, part }) => {
      await remove(net.call, id, [svc_sk]);
      await create201({ code, part, ...values() });
    }),
  async () => {
    const [a, b] = [pick(await rowsOf()), pick(await rowsOf())];
    if (!a || !b || a.svc_sk === b.svc_sk) return;
    await patch(net.call, id, a.svc_sk, { code: 'x', part: random(100) });
    await patch(net.call, id, b.svc_sk, { code: a.code, part: a.part });
    await patch(net.call, id, a.svc_sk, { code: b.code, part: b.part });
  },
  async () => {
    const row = pick(await rowsOf(true));
    if (row) await restore(net.call, id, [row.svc_sk]);
  },
  async () => {
    const operations = (await rowsOf())
      .slice(0, 4)
      .map(({ svc_sk }) =>
        random(2) === 0
          ? { operation: 'delete', id: svc_sk }
          : { operation: 'update', id: svc_sk, record: random(3) === 0 ? key() : values() },
      );
    await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: id, operations });
  },
];

async function loadSome(): Promise<void> {
  const pattern = pick(['full', 'incremental']) as string;
  const keys = new Map(Array.from({ length: 1 + random(8) }, () => key()).map((each) => [JSON.stringify(each), each]));
  const lines = [...keys.values()].map(({ code, part }) => `${code},${part},l${random(100)},${random(100)}\n`).join('');
  const file_columns = ['code', 'part', 'name', 'amount'];
  await load(net, id, lines, { file_columns, pattern, allow_mass_delete: true }).catch(() => {});
}

// Another session that changes a row, and commits later than others that began after it.
async function writeSlowly(): Promise<void> {
  const slow = new pg.Client({ connectionString: net.database.url });
  await slow.connect();
  try {
    await slow.query('begin');
    await slow.query("set local lock_timeout = '200ms'");
    await slow.query(
      `update b_1.t_${id} t set c_${id}003 = 'slow', svc_version = svc_version + 1, svc_channel = 'a',
         svc_updated_at = greatest(date_trunc('milliseconds', clock_timestamp()), svc_updated_at)
       where svc_sk = (select svc_sk from b_1.t_${id} where svc_live order by random() limit 1)`,
    );
    await sleep(random(150));
    await slow.query('commit');
  } catch {
    // A lock that another writer has.
  } finally {
    await slow.end();
  }
}

let version = 1;
async function deployAnother(): Promise<void> {
  version += 1;
  await deploy(net, [table(version, random(3))]).catch(() => {});
  await sleep(500);
}

/** The mark of a cursor between two windows. */
function markOf(cursor: string): string | undefined {
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
  return parts.length === 3 ? parts[2] : undefined;
}

const isLive = ({ svc_is_deleted }: { svc_is_deleted: boolean }) => !svc_is_deleted;

type Copy = { content: Record<string, unknown>[]; apply: (changes: Change[]) => void };

const shown = (rows: Record<string, unknown>[]) =>
  rows.map(({ svc_sk, svc_version, code, part, name, amount }) => ({ svc_sk, svc_version, code, part, name, amount }));

/** Without what a later deployment rounds in the history, too. */
const shownThen = (rows: Record<string, unknown>[]) => shown(rows).map(({ amount, ...row }) => row);

const hasUniqueKeys = (rows: Record<string, unknown>[]) =>
  new Set(rows.map(({ code, part }) => `${code} ${part}`)).size === rows.length;

it(`copies of feeds equal the table (seed ${seed})`, async () => {
  console.log(`FEED_SEED=${seed}`);
  for (let n = 0; n < 6; n += 1) await create(net, id, { code: 'y', part: n, ...values() });
  await marksPassed(net);
  const start = await cursorOf(net.call, id);
  const rows = (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}`)).body.data;
  const asChanges = rows.map((record: Row) => ({
    change: 'created',
    svc_sk: record.svc_sk,
    key: { code: record.code, part: record.part },
    record,
  })) as Change[];
  const feeds = [
    { copy: new CopyByKey() as Copy, versions: 'net', cursor: start },
    { copy: new CopyById() as Copy, versions: 'net', cursor: start },
    { copy: new CopyOfVersions() as Copy, versions: 'all', cursor: start },
  ];
  for (const { copy } of feeds) copy.apply(asChanges);

  let running = true;
  const repeat = async (work: () => Promise<unknown>) => {
    while (running) await work();
  };
  const writers = [
    ...Array.from({ length: 3 }, () => repeat(() => (pick(actions) as () => Promise<unknown>)())),
    repeat(loadSome),
    repeat(writeSlowly),
    repeat(deployAnother),
  ];
  let checked = 0;
  // One page; between windows the copy is the table as of the mark.
  const next = async (feed: (typeof feeds)[number], limit: number) => {
    const page = await pageOf(net.call, id, { versions: feed.versions, after: feed.cursor, limit });
    feed.copy.apply(page.data);
    feed.cursor = page.cursor;
    const mark = markOf(page.cursor);
    if (mark === undefined) return page.has_more;
    const then = (await rowsAsOf(net.call, id, mark)).filter(isLive);
    if (hasUniqueKeys(then)) {
      checked += 1;
      expect(shownThen(feed.copy.content)).toEqual(shownThen(then));
    }
    return page.has_more;
  };
  const until = Date.now() + seconds * 1000;
  try {
    while (Date.now() < until) for (const feed of feeds) await next(feed, 1 + random(30));
  } finally {
    running = false;
    await Promise.all(writers);
  }
  await marksPassed(net);
  const now = (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}&sort=svc_sk&per_page=1000`)).body
    .data;
  for (const feed of feeds) {
    while (await next(feed, 1 + random(30)));
    expect(shown(feed.copy.content)).toEqual(shown(now));
  }
  expect(checked).toBeGreaterThan(5);
}, 300_000);
