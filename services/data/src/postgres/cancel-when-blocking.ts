// Work on a table that is cancelled as soon as another session waits for the table.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';

const checkEveryMs = 200; // well below deadlock_timeout (1 s)

/**
 * Runs `work` on the client's session; cancels it (query_canceled) when a session waits for a lock
 * that it holds on the table, or at the signal.
 */
export async function cancelWhenBlocking<T>(
  pool: pg.Pool,
  client: pg.PoolClient,
  table: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await pgSql(client)('select pg_backend_pid() as pid');
  let checking: Promise<unknown> = Promise.resolve();
  const check = () => {
    const values = [rows[0]?.pid, table, signal.aborted];
    checking = checking.then(() => pgSql(pool)(cancelIfBlockingSql, values)).catch(() => {});
  };
  const watch = setInterval(check, checkEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(watch);
    await checking; // a late one must not cancel the next statement
  }
}

const cancelIfBlockingSql = `select pg_cancel_backend($1::int) where $3::boolean or exists (
  select from pg_locks l where l.relation = to_regclass($2) and not l.granted and $1::int = any(pg_blocking_pids(l.pid)))`;
