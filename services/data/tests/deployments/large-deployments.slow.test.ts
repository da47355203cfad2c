// Deployments that only add to a large table: no session waits while PostgreSQL reads it, and the
// pending work is done in any case.

import { createTestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { type DataNet, deploy, failureOf, givenData } from '../given.ts';
import { startData } from '../process.ts';
import { after, before, fill, isBuildingSql, large, pendingSql, rows } from './large-tables-given.ts';

const all = ['f_10_10005', 'i_10_10005', 'n_10', 'v_10002', 'v_10004'];
const patience = { timeout: 300_000, withinMs: 120_000 };

/**
 * A session with a snapshot that it keeps until it is ended: the last step of an index waits for
 * it.
 */
async function startLooking(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin isolation level repeatable read; select from deployed_table');
  return client;
}

describe('a deployment that only adds to a large table', () => {
  let net: DataNet;

  beforeAll(async () => {
    net = await givenData();
    await deploy(net, before);
    await fill(net.query);
  }, patience.timeout);
  afterAll(() => net.stop());

  const files = () =>
    net.query(
      `select relname, pg_relation_filenode(oid)::int as file from pg_class
       where oid = any(array['b_1.t_10', 'b_1.h_10', 'b_1.k_10', 'b_1.u_10', 'b_1.t_20', 'b_1.k_20']::regclass[]) order by 1`,
    );
  const add = (record: object) => net.call('POST', '/api/v1/table_data', { table_definition_id: large, record });
  const page = () =>
    net.call('POST', '/api/v1/table_data/grid', { table_definition_id: large, startRow: 0, endRow: 5 });

  it(
    'rewrites no row, and holds from the first moment, while its index is made beside writers',
    async () => {
      const was = await files();
      const looking = await startLooking(net.database.url);
      await deploy(net, after);
      expect(await files()).toEqual(was);
      const round = net.context.indexing.round();
      await eventually(async () => expect(await net.query(isBuildingSql)).toEqual([{ building: true }]));
      const record = { id: rows + 1, name: 'newer', size: 'big', colour: 'red', note: 'n'.repeat(1000) };
      expect((await add(record)).status).toBe(201);
      expect((await page()).body.rowCount).toBe(rows + 1);
      const refused = await add({ id: 1, size: 'huge', colour: 'blue' });
      expect([refused.status, refused.body.errors]).toEqual([
        422,
        expect.arrayContaining(['colour must refer to a record of the referenced table']),
      ]);
      const direct = (column: string) =>
        net.query(
          `insert into b_1.t_10 (svc_created_at, svc_updated_at, c_10001, c_10002, ${column}) values (now(), now(), 0, 'old', 'x')`,
        );
      await expect(direct('c_10004')).rejects.toMatchObject({ code: '23514' });
      await expect(direct('c_10005')).rejects.toMatchObject({ code: '23503' });
      expect((await net.query(pendingSql)).length).toBeGreaterThan(0);
      expect(await net.query(isBuildingSql)).toEqual([{ building: true }]);
      await looking.end();
      await round;
      await eventually(async () => {
        await net.context.indexing.round();
        expect(await net.query(pendingSql)).toEqual([]);
      }, patience);
      expect(await files()).toEqual(was);
    },
    patience.timeout,
  );

  it(
    'is interrupted by the next one, which finds the pending work and removes it',
    async () => {
      const looking = await startLooking(net.database.url);
      const without = {
        ...(before[0] as (typeof before)[number]),
        version: 3,
        columns: after[0]?.columns.slice(0, 3) ?? [],
      };
      await deploy(net, [without]);
      await deploy(
        net,
        after.map((table) => ({ ...table, version: 4 })),
      );
      const round = net.context.indexing.round();
      await eventually(async () => expect(await net.query(isBuildingSql)).toEqual([{ building: true }]));
      await deploy(net, [{ ...without, version: 5 }]);
      await looking.end();
      await round;
      expect(await net.query(`select to_regclass('b_1.i_10_10005') as index`)).toEqual([{ index: null }]);
      expect((await page()).status).toBe(200);
    },
    patience.timeout,
  );

  it('is refused like any other when a row breaks a rule', async () => {
    const [table] = after;
    const narrow = {
      ...table,
      version: 6,
      columns: table?.columns.map((each) => (each.name === 'name' ? { ...each, valid_values: ['new'] } : each)),
    };
    const failure = await failureOf(deploy(net, [narrow as (typeof after)[number]]));
    expect(failure.errors.join()).toContain(
      `name has values that are not in the list of valid values. (${rows + 1} rows)`,
    );
  });
});

it('pending work is done by the next process after data was killed', async () => {
  const [database, keys] = await Promise.all([createTestDatabase('data'), createTestKeys()]);
  const test = new pg.Client({ connectionString: database.url });
  await test.connect();
  const answers = async (text: string) => (await test.query(text)).rows;
  let data = await startData(database.url, keys);
  try {
    await data.apply('first', before);
    await fill((text, values) => test.query(text, values as unknown[]));
    const looking = await startLooking(database.url);
    await data.apply('second', after);
    await eventually(async () => expect(await answers(isBuildingSql)).toEqual([{ building: true }]), patience);
    await data.end('SIGKILL');
    await looking.end();
    const left = await answers(pendingSql);
    expect(left.length).toBeGreaterThan(0);
    for (const { name } of left) expect(all).toContain(name);
    data = await startData(database.url, keys);
    await eventually(async () => expect(await answers(pendingSql)).toEqual([]), patience);
    expect((await data.call('GET', `/api/v1/table_data?table_definition_id=${large}&per_page=1`)).status).toBe(200);
  } finally {
    await data.end();
    await test.end();
    await database.drop();
  }
});
