// One instant of the database, seen from one connection or from two.
import { pgSql } from '@almanac/service-kit/database';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import type pg from 'pg';

/**
 * A connection in a transaction that sees what is committed now of these tables, and is never hurried. A deployment that changes them is
 * waited for first: to who looked before it, a table that PostgreSQL rewrites meanwhile (another type of a column) is empty.
 */
export async function openSnapshot(pool: pg.Pool, tables: string[]): Promise<pg.PoolClient> {
  return begin(pool, [lockSql(tables)]);
}

/**
 * Another connection that sees exactly what `first` does. None while fewer than half of the pool are free (reading goes faster with two,
 * and should keep nobody else from reading), nor when somebody waits for `first` to let go of a table: this one would wait behind him.
 */
export async function joinSnapshot(
  pool: pg.Pool,
  first: pg.PoolClient,
  tables: string[],
): Promise<pg.PoolClient | undefined> {
  const { rows } = await pgSql(first)('select pg_export_snapshot() as snapshot');
  // Nothing is waited for between this and the connection: whoever waited for a second one while all have a first would wait for ever.
  const taken = pool.totalCount - pool.idleCount + pool.waitingCount;
  if (taken * 2 > pool.options.max) return undefined;
  try {
    return await begin(pool, [`set transaction snapshot '${rows[0]?.snapshot}'`, `${lockSql(tables)} nowait`]);
  } catch (error) {
    if (findSqlState(error) === '55P03') return undefined;
    throw error;
  }
}

// Takes no snapshot.
const lockSql = (tables: string[]) => `lock table ${tables.join(', ')} in access share mode`;

async function begin(pool: pg.Pool, also: string[]): Promise<pg.PoolClient> {
  const client = await pool.connect();
  try {
    const settings = ['statement_timeout = 0', 'idle_in_transaction_session_timeout = 0'].map(
      (one) => `set local ${one}`,
    );
    for (const text of ['begin isolation level repeatable read read only', ...settings, ...also])
      await client.query(text);
    return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
