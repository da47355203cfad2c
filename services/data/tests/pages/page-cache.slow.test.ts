// Cached pages equal the pages that PostgreSQL would write: every write, by any caller and channel,
// is in the next page.
import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { load } from '../files.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { copyOf, merge } from '../merges/row-merges.ts';
import { patch, remove, restore, revert, versionsOf } from '../versions.ts';

let net: DataNet;
const columns: TableInput['columns'] = [
  { name: 'code', length: 40, is_primary_key: true },
  { name: 'name', length: 40 },
];
const model = {
  filterModel: { code: { filterType: 'text', type: 'startsWith', filter: 'c' } },
  sortModel: [{ colId: 'code', sort: 'desc' }],
};
let last = 0;

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

type Row = { svc_sk: number; code: string; name: string };

/** A table with some rows. */
async function givenTable(): Promise<{ id: number; rows: Row[] }> {
  last += 10;
  await deploy(net, [{ id: last, columns }]);
  const rows: Row[] = [];
  for (const code of ['c1', 'c2', 'c3']) rows.push(await create(net, last, { code, name: 'first' }));
  return { id: last, rows };
}

const bodyOf = (table: number) => ({ table_definition_id: table, startRow: 0, endRow: 100, ...model });

async function page(table: number, more: object = {}) {
  const body = { ...bodyOf(table), ...more };
  const { status, body: answer } = await net.call('POST', '/api/v1/table_data/grid', body);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`);
  return answer as { rows: Row[]; rowCount: number };
}

async function list(table: number) {
  const { body } = await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=code`);
  return body as { data: Row[]; meta: { total_count: number } };
}

/** Repeats a request until it is answered from the cache. */
async function cached<T>(ask: () => Promise<T>): Promise<T> {
  return eventually(async () => {
    const before = net.context.pages.cache.hits;
    const answer = await ask();
    expect(net.context.pages.cache.hits).toBe(before + 1);
    return answer;
  });
}

/** The page as PostgreSQL writes it: by a request that has not been made before. */
let asked = 0;
async function truth(table: number) {
  asked += 1;
  return page(table, { endRow: 100 + asked });
}

it('a page that is requested again comes from the cache, equal to the byte', async () => {
  const { id } = await givenTable();
  const ask = async () => {
    const answer = await fetch(`${net.baseUrl}/api/v1/table_data/grid`, {
      method: 'POST',
      headers: { ...(await callHeaders(net.keys)), 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(id)),
    });
    return { text: await answer.text(), type: answer.headers.get('content-type') };
  };
  const first = await ask();
  expect(await cached(ask)).toEqual(first);
  expect(JSON.parse(first.text)).toEqual(await truth(id));
  expect((await page(id, { sortModel: [{ colId: 'code', sort: 'asc' }] })).rows[0]?.code).toBe('c1');
  const listed = await list(id);
  expect(await cached(() => list(id))).toEqual(listed);
  expect(net.context.pages.cache.size).toBeGreaterThan(first.text.length);
});

type Given = { id: number; rows: Row[] };
const ways: [string, (given: Given) => Promise<unknown>][] = [
  ['a row is created', ({ id }) => create(net, id, { code: 'c9', name: 'new' })],
  ['a row is changed', ({ id, rows }) => patch(net.call, id, rows[1]?.svc_sk as number, { name: 'changed' })],
  ['a row is deleted', ({ id, rows }) => remove(net.call, id, [rows[1]?.svc_sk as number])],
  [
    'a row is restored',
    async ({ id, rows }) => {
      const row = rows[1]?.svc_sk as number;
      await remove(net.call, id, [row]);
      await cached(() => page(id));
      return restore(net.call, id, [row]);
    },
  ],
  [
    'a row is reverted',
    async ({ id, rows }) => {
      const row = rows[1]?.svc_sk as number;
      await patch(net.call, id, row, { name: 'changed' });
      await cached(() => page(id));
      const [, first] = await versionsOf(net.call, id, row);
      return revert(net.call, id, row, first.svc_version);
    },
  ],
  [
    'a batch is written',
    ({ id, rows }) =>
      net.call('POST', '/api/v1/table_data/batch', {
        table_definition_id: id,
        operations: [
          { operation: 'create', record: { code: 'c8', name: 'batch' } },
          { operation: 'update', id: rows[0]?.svc_sk, record: { name: 'batch' } },
          { operation: 'delete', id: rows[2]?.svc_sk },
        ],
      }),
  ],
  ['a file is loaded', ({ id }) => load(net, id, 'c2,loaded\nc5,loaded\n', { file_columns: ['code', 'name'] })],
  [
    'another branch is merged',
    async ({ id }) => {
      const copy = copyOf({ id, columns });
      await deploy(net, [copy]);
      await create(net, copy.id, { code: 'c4', name: 'merged' });
      return merge(net, [[copy.id, id]]);
    },
  ],
  [
    'the table gets a column',
    ({ id }) => deploy(net, [{ id, version: 2, columns: [...columns, { name: 'more', data_type: 'integer' }] }]),
  ],
  [
    'a column gets another name',
    ({ id }) =>
      deploy(net, [
        { id, version: 2, columns: [columns[0] as never, { name: 'label', length: 40, lineage_id: id * 1000 + 2 }] },
      ]),
  ],
];

it.each(ways)('the next page shows it when %s', async (_, change) => {
  const given = await givenTable();
  const { id } = given;
  await page(id);
  const before = await cached(() => page(id));
  await change(given);
  const after = await page(id);
  expect(after).toEqual(await truth(id));
  expect(after).not.toEqual(before);
  expect(await cached(() => page(id))).toEqual(after);
});

it('a write that was open when the page was cached is in the next page after its commit', async () => {
  const { id } = await givenTable();
  const writer = new pg.Client({ connectionString: net.database.url });
  await writer.connect();
  try {
    await page(id);
    await cached(() => page(id));
    await writer.query('begin');
    await writer.query(
      `insert into b_1.t_${id} (svc_created_at, svc_updated_at, c_${id * 1000 + 1}, c_${id * 1000 + 2})
       values (clock_timestamp(), date_trunc('milliseconds', clock_timestamp()), 'c7', 'late')`,
    );
    expect((await cached(() => page(id))).rowCount).toBe(3);
    // While it is open, another page is cached, and one is read again after another change.
    const other = { startRow: 1 };
    await page(id, other);
    await cached(() => page(id, other));
    await create(net, id, { code: 'c6', name: 'between' });
    expect((await page(id)).rowCount).toBe(4);
    for (let i = 0; i < 5; i += 1) {
      expect((await page(id)).rowCount).toBe(4);
      await new Promise((resolve) => setTimeout(resolve, 700)); // for several new marks
    }
    await writer.query('commit');
    expect((await page(id)).rowCount).toBe(5);
    expect((await page(id, other)).rowCount).toBe(5);
  } finally {
    await writer.end();
  }
});

it('each of many writers finds its write in the next page', async () => {
  const { id } = await givenTable();
  for (let round = 0; round < 3; round += 1) {
    await page(id);
    await cached(() => page(id));
    const mine = Array.from({ length: 12 }, (_, i) => `c-${round}-${i}`);
    await Promise.all(
      mine.map(async (code) => {
        await create(net, id, { code });
        expect((await page(id)).rows.map((row) => row.code)).toContain(code);
      }),
    );
  }
  expect(await cached(() => page(id))).toEqual(await truth(id));
});

it('pages with lookups show changes of the referenced records', async () => {
  last += 10;
  const [target, table] = [last, last + 1];
  await deploy(net, [
    { id: target, columns, lookup_display_column_id: target * 1000 + 1 },
    { id: table, columns: [...columns, { name: 'ref', length: 40, foreign_key_table_id: target }] },
  ]);
  const { svc_sk } = await create(net, target, { code: 't1', name: 'before' });
  await create(net, table, { code: 'c1', ref: 't1' });
  const ask = async () => JSON.stringify((await page(table, { include_lookups: true })).rows);
  for (let i = 0; i < 4; i += 1) expect(await ask()).toContain('before');
  await patch(net.call, target, svc_sk, { name: 'after' });
  expect(await ask()).toContain('after');
});

it('a caller that may not view a table gets none of its pages, cached or not', async () => {
  const { id } = await givenTable();
  await page(id);
  await cached(() => page(id));
  net.rights.set(7, { license_type: 'viewer', permissions: [] });
  const statusOf = async (claims: object) =>
    (await net.as(claims)('POST', '/api/v1/table_data/grid', bodyOf(id))).status;
  expect([await statusOf({ userId: 7 }), await statusOf({ accountId: 2 })]).toEqual([403, 404]);
});
