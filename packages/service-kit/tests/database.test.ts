import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import type pg from 'pg';
import { pino } from 'pino';
import { createPool, pgSql, retryTransaction, withTransaction } from '../src/postgres/database.ts';

const logger = pino({ level: 'silent' });
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase('database');
  pool = createPool({ url: database.url, name: 'database-test', max: 4, logger });
  await pool.query('create table counter (id int primary key, value int not null)');
  await pool.query('insert into counter values (1, 0), (2, 0)');
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('createPool', () => {
  it('reads int8 as a number while that is exact, numeric and calendar values as text', async () => {
    const { rows } = await pool.query(
      "select 5::int8 as small, '{7,NULL,9007199254740993}'::int8[] as many, 9007199254740993::int8 as big, 1.50::numeric as exact, date '2026-02-03' as day, jsonb '{\"a\":1}' as json",
    );
    expect(rows).toEqual([
      {
        small: 5,
        many: [7, null, '9007199254740993'],
        big: '9007199254740993',
        exact: '1.50',
        day: '2026-02-03',
        json: { a: 1 },
      },
    ]);
  });

  it('names its connections and limits statements', async () => {
    const { rows } = await pool.query(
      "select current_setting('application_name') as name, current_setting('statement_timeout') as timeout",
    );
    expect(rows).toEqual([{ name: 'database-test', timeout: '30s' }]);
  });

  it('replaces connections that the server ended, also one in use', async () => {
    const client = await pool.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
    client.release(true);
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });
});

describe('pgSql', () => {
  it('refuses a second statement', async () => {
    await expect(pgSql(pool)('select 1; select 2')).rejects.toThrow(/multiple commands/);
    await expect(pgSql(pool)('select $1::int as n', [2])).resolves.toEqual({ rows: [{ n: 2 }], rowCount: 1 });
  });
});

describe('withTransaction', () => {
  it('rolls back when the work throws', async () => {
    const work = withTransaction(pool, async (sql) => {
      await sql('update counter set value = 99 where id = 1');
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    await expect(readValue(1)).resolves.toBe(0);
  });

  it('runs the whole work again after a deadlock', async () => {
    let runs = 0;
    let arrivals = 0;
    let bothArrived = () => {};
    const meeting = new Promise<void>((resolve) => {
      bothArrived = resolve;
    });
    const cross = (first: number, second: number) =>
      withTransaction(pool, async (sql) => {
        runs += 1;
        await sql('update counter set value = value + 1 where id = $1', [first]);
        arrivals += 1;
        if (arrivals === 2) bothArrived();
        await meeting;
        await sql('update counter set value = value + 1 where id = $1', [second]);
      });
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(runs).toBe(3);
    await expect(readValue(1)).resolves.toBe(2);
    await expect(readValue(2)).resolves.toBe(2);
  });

  it('gives up after the last attempt', async () => {
    let runs = 0;
    const work = retryTransaction(
      async () => {
        runs += 1;
        throw Object.assign(new Error('conflict'), { code: '40001' });
      },
      { attempts: 2 },
    );
    await expect(work).rejects.toThrow('conflict');
    expect(runs).toBe(2);
  });
});

async function readValue(id: number): Promise<number> {
  const { rows } = await pool.query('select value from counter where id = $1', [id]);
  return rows[0].value;
}
