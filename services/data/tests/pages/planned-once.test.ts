// Statements of single rows are repeated: PostgreSQL plans each a few times, finds that one plan
// serves all values, and keeps it.

import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { run } from '../../src/postgres/pools.ts';
import { readKeyed } from '../../src/records/key-input.ts';
import { type Cells, readRecord } from '../../src/records/record-input.ts';
import { insertSql, showKeyedSql, showSql, updateSql } from '../../src/records/write-sql.ts';
import type { Origin } from '../../src/rows/origin.ts';
import { anyHiddenFromPlanner, type Statement } from '../../src/sql/statement.ts';
import type { DeployedTable } from '../../src/tables/table.ts';
import { type DataNet, deploy, givenData } from '../given.ts';

let net: DataNet;
let pool: pg.Pool;
let table: DeployedTable;
const rows = 5_000;
const times = 12; // PostgreSQL tries five plans for the values at hand before it compares
const origin: Origin = { actor: 'user:1', channel: 'api', requestId: 'r' };

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [
    {
      id: 1,
      columns: [
        { name: 'n', data_type: 'integer', is_primary_key: true },
        { name: 'name', length: 40 },
      ],
    },
  ]);
  await net.query(
    'insert into b_1.t_1 (svc_created_at, svc_updated_at, c_1001, c_1002) select now(), now(), n, n::text from generate_series(1, $1::int) n',
    [rows],
  );
  await net.query('analyze b_1.t_1');
  table = (await net.context.catalogue.read(1, { id: 1 })) as DeployedTable;
  pool = createPool({ url: net.database.url, name: 'test', max: 1, logger: createLogger('test', 'silent') });
});

afterAll(async () => {
  await pool.end();
  await net.stop();
});

/**
 * How often PostgreSQL planned a statement for its values, after it was run often enough to have a
 * generic plan.
 */
async function plansOf(write: (time: number) => Statement): Promise<number> {
  const { text } = write(0);
  for (let time = 1; time <= times; time += 1) await run(pool, write(time));
  const [found] = await run<{ custom_plans: number; generic_plans: number }>(pool, {
    text: 'select custom_plans::int, generic_plans::int from pg_prepared_statements where statement = $1::text',
    values: [text],
  });
  // A text is prepared from its second run on; an earlier file of this process may have run it.
  expect((found?.custom_plans ?? 0) + (found?.generic_plans ?? 0)).toBeGreaterThanOrEqual(times - 1);
  return found?.custom_plans ?? 0;
}

const cells = (record: object) => readRecord(table, { ...record }, false).cells;

const keyed = (n: number) => readKeyed(table, { n, name: 'y' });

const statements: [string, (time: number) => Statement][] = [
  ['a row', (time) => showSql(table, [String(time)])],
  ['a row of an instant', (time) => showSql(table, [String(time)], { asOf: new Date().toISOString() })],
  ['a row by its key', (time) => showKeyedSql(table, [keyed(time).key as Cells])],
  [
    'a changed row by its key',
    (time) => {
      const { key, cells: others } = keyed(time);
      return updateSql(table, [{ key: key as Cells, cells: others, origin, versions: undefined }], 'api');
    },
  ],
  ['a new row', (time) => insertSql(table, [{ cells: cells({ n: rows + 1 + time, name: 'new' }), origin }], 'api')],
  [
    'a changed row',
    (time) => updateSql(table, [{ id: String(time), cells: cells({ name: 'x' }), origin, versions: undefined }], 'api'),
  ],
];

it.each(statements)('%s', async (_name, write) => {
  expect(await plansOf(write)).toBe(5);
});

it('a statement whose array the planner sees is planned each time', async () => {
  const write = (list: string) => (time: number) => ({
    text: `select svc_sk from b_1.t_1 where svc_sk = ${list}`,
    values: [[String(time)]],
  });
  expect(await plansOf(write('any($1::bigint[])'))).toBe(times - 1);
  expect(await plansOf(write(anyHiddenFromPlanner('$1::bigint[]', 'bigint')))).toBe(5);
});
