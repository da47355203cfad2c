import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { recordStatements, type SentStatements } from '../sent-statements.ts';
import { remove, restore } from '../versions.ts';

let net: DataNet;
const rows = 30_000;
const groups = 7;
const columns: TableInput['columns'] = [
  { name: 'id', data_type: 'integer', is_primary_key: true },
  { name: 'part', data_type: 'integer' },
  { name: 'name', length: 40 },
];

let statements: SentStatements;

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [{ id: 1, columns }]);
  await net.query(
    `insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002, c_1003)
     select clock_timestamp(), clock_timestamp(), n, case when n % 11 > 0 then n % $1 end, md5(n::text) from generate_series(1, $2::int) n`,
    [groups, rows],
  );
  await net.query('vacuum analyze b_1.t_1');
  statements = recordStatements();
});

afterAll(async () => {
  statements.stop();
  await net.stop();
});

type Model = { filterModel?: unknown; sortModel?: unknown; include_deleted?: boolean };

async function page(startRow: number, length: number, model: Model = {}) {
  const body = { table_definition_id: 1, startRow, endRow: startRow + length, ...model };
  const answer = await net.call('POST', '/api/v1/table_data/grid', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return { count: answer.body.rowCount as number, ids: answer.body.rows.map((row: { id: number }) => row.id) };
}

/** Reads other pages until the count of the model is cached. */
async function cacheCount(model: Model) {
  let length = 0;
  await eventually(async () => {
    statements.texts.length = 0;
    length = (length % 1_000) + 1;
    await page(0, length, model);
    expect(statements.texts.join()).toContain('offset 0) as counted');
  });
}

const partIs = (value: number) => ({ part: { filterType: 'number', type: 'equals', filter: value } });

describe('far pages', () => {
  const models: [string, Model][] = [
    ['as they were made', {}],
    ['in ascending order', { sortModel: [{ colId: 'part', sort: 'asc' }] }],
    ['in descending order', { sortModel: [{ colId: 'part', sort: 'desc' }] }],
    [
      'in the order of two columns',
      {
        sortModel: [
          { colId: 'part', sort: 'desc' },
          { colId: 'name', sort: 'asc' },
        ],
      },
    ],
    ['of some of the rows', { filterModel: partIs(3), sortModel: [{ colId: 'name', sort: 'desc' }] }],
    ['with deleted ones', { include_deleted: true, sortModel: [{ colId: 'name', sort: 'asc' }] }],
  ];

  it.each(models)('%s are the same by scanning, and by counting in an index from either end', async (_, model) => {
    const all: number[] = [];
    const { count } = await page(0, 1, model);
    for (let start = 0; start < count; start += 1000) all.push(...(await page(start, 1000, model)).ids);
    expect([all.length, new Set(all).size]).toEqual([count, count]);

    const whole = orderOf(model);
    const expected = await net.query(`select c_1001 as id from b_1.t_1 where ${whole.where} order by ${whole.order}`);
    expect(all).toEqual(expected.map(({ id }) => id));

    await cacheCount(model);
    const ends = [count - 1001, count - 1000, count - 30, count - 1, count, count + 1, count + 5000];
    for (const start of [120, 250, 975, 1000, 2500, Math.floor(count / 2) + 1, ...ends])
      expect([start, await page(start, 50, model)]).toEqual([start, { count, ids: all.slice(start, start + 50) }]);
    expect(statements.texts.some((text) => text.includes('row_number() over () * -1'))).toBe(true);
  });

  function orderOf({ filterModel, sortModel, include_deleted }: Model) {
    const names: Record<string, string> = { part: 'c_1002', name: 'c_1003' };
    const terms = ((sortModel ?? []) as { colId: string; sort: string }[]).map(
      ({ colId, sort }) => `${names[colId]} ${sort} nulls ${sort === 'asc' ? 'first' : 'last'}`,
    );
    const where = [include_deleted ? 'true' : 'not svc_is_deleted', filterModel ? 'c_1002 = 3' : 'true'].join(' and ');
    return { where, order: [...terms, 'svc_sk'].join(', ') };
  }
});

describe('cached counts', () => {
  it('follow every kind of change', async () => {
    const model = { filterModel: partIs(2) };
    await cacheCount(model);
    const { count } = await page(0, 1, model);
    const counts = async () => [
      (await page(0, 1, model)).count - count,
      (await page(0, 1, { ...model, include_deleted: true })).count - count,
    ];
    await cacheCount({ ...model, include_deleted: true });
    expect(await counts()).toEqual([0, 0]);
    const row = await create(net, 1, { id: rows + 1, part: 2 });
    expect(await counts()).toEqual([1, 1]);
    await remove(net.call, 1, [row.svc_sk]);
    expect(await counts()).toEqual([0, 1]);
    await restore(net.call, 1, [row.svc_sk]);
    expect(await counts()).toEqual([1, 1]);
    const patch = (record: unknown) =>
      net.call('PATCH', `/api/v1/table_data/${row.svc_sk}`, { table_definition_id: 1, record });
    await patch({ part: 3 });
    expect(await counts()).toEqual([0, 0]);
    await patch({ part: null });
    await patch({ part: 2 });
    expect(await counts()).toEqual([1, 1]);
    await remove(net.call, 1, [row.svc_sk]);
    expect(await counts()).toEqual([0, 1]);
  });

  it('are used as they are while no row changes', async () => {
    let id = 0;
    await eventually(async () => {
      id += 1; // a count as of a mark that is later than the changes before
      const model = { filterModel: { id: { filterType: 'number', type: 'greaterThan', filter: id } } };
      const { count } = await page(0, 1, model);
      expect((await page(0, 2, model)).count).toBe(count);
      statements.texts.length = 0;
      expect((await page(0, 3, model)).count).toBe(count);
      expect(statements.texts.join()).toContain('limit 1) changed');
      expect(statements.texts.join()).not.toContain('with changed');
    });
  });

  it('are counted again after too many changes', async () => {
    const model = { filterModel: partIs(4) };
    await cacheCount(model);
    const { count } = await page(0, 1, model);
    await net.query(
      `update b_1.t_1 set c_1002 = 5, svc_version = svc_version + 1, svc_updated_at = clock_timestamp() where c_1002 = 4`,
    );
    expect([count > 2001, (await page(0, 1, model)).count]).toEqual([true, 0]);
    await cacheCount(model);
    expect((await page(0, 1, model)).count).toBe(0);
  });

  it('are exact at every moment, also while writers commit later than others that began after them', async () => {
    const model = { filterModel: partIs(1) };
    await cacheCount(model);
    const { count } = await page(0, 1, model);
    const seen = new Set<number>();
    let writing = true;
    const write = async (writer: number) => {
      const client = new pg.Client({ connectionString: net.database.url });
      await client.connect();
      // Each changes places between one row of part 1 and one of part 6 at a time, so their numbers
      // stay the same.
      for (let round = 0; round < 60; round += 1) {
        await client.query('begin');
        await client.query(
          `with pair as materialized (
             (select svc_sk from b_1.t_1 where c_1002 = 1 and svc_sk % 4 = $1 order by random() limit 1) union all
             (select svc_sk from b_1.t_1 where c_1002 = 6 and svc_sk % 4 = $1 order by random() limit 1))
           update b_1.t_1 t set c_1002 = 7 - c_1002, svc_version = svc_version + 1,
             svc_updated_at = greatest(date_trunc('milliseconds', clock_timestamp()), svc_updated_at)
           from pair where pair.svc_sk = t.svc_sk`,
          [writer],
        );
        await client.query('select pg_sleep(random() * 0.05)');
        await client.query('commit');
      }
      await client.end();
    };
    const read = async () => {
      while (writing) seen.add((await page(0, 1, model)).count);
    };
    const writers = Promise.all([0, 1, 2, 3].map(write)).finally(() => {
      writing = false;
    });
    await Promise.all([writers, read(), read()]);
    expect([...seen]).toEqual([count]);
    const [superseded] = await net.query('select count(*)::int as n from b_1.h_1 where c_1002 in (1, 6)');
    expect(superseded?.n).toBeGreaterThanOrEqual(400);
  });
});

describe('a page of an order alone', () => {
  // Planning it takes longer than reading it.
  it('is not planned each time', async () => {
    const model = { sortModel: [{ colId: 'name', sort: 'desc' }] };
    await cacheCount(model);
    const { pools } = net.context;
    const timesOfOnePlan = async () => {
      const clients = await Promise.all(Array.from({ length: pools.rows.totalCount }, () => pools.rows.connect()));
      const text = `select coalesce(sum(generic_plans), 0)::int as n from pg_prepared_statements where statement like '%order by c_1003 desc%'`;
      const counts = await Promise.all(clients.map(async (client) => (await client.query(text)).rows[0].n));
      for (const client of clients) client.release();
      return counts.reduce((sum, n) => sum + n, 0);
    };
    await eventually(async () => {
      for (let time = 0; time < 10; time += 1) expect((await page(0, 3, model)).ids).toHaveLength(3);
      expect(await timesOfOnePlan()).toBeGreaterThan(10);
    });
  });
});

describe('slow pages of a large table', () => {
  it('leave connections to other requests', async () => {
    await deploy(net, [{ id: 2, columns }]);
    await create(net, 2, { id: 1 });
    await cacheCount({});
    const blocker = new pg.Client({ connectionString: net.database.url });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table b_1.t_1 in access exclusive mode');
    // Each requested for the first time: a repeated page would wait for the query of the last
    // change.
    const stuck = Array.from({ length: 20 }, (_, place) => page(7_000 + place, 1).catch(() => undefined));
    const isStuck = `select count(*)::int as n from pg_locks where relation = 'b_1.t_1'::regclass and not granted`;
    await eventually(async () => expect((await net.query(isStuck))[0]?.n).toBe(6));
    const small = { table_definition_id: 2, startRow: 0, endRow: 1 };
    expect((await net.call('POST', '/api/v1/table_data/grid', small)).body.rowCount).toBe(1);
    await eventually(async () => expect((await net.query(isStuck))[0]?.n).toBe(6)); // others, when the first gave up
    await blocker.query('commit');
    await blocker.end();
    await Promise.all(stuck);
    expect((await page(0, 1)).count).toBeGreaterThanOrEqual(rows);
  });
});
