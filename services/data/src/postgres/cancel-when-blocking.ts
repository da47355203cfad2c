// Work on a table that ends as soon as somebody waits for it.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';

const lookEveryMs = 200; // well before PostgreSQL takes two who wait for each other for a deadlock (1 s)

/** Runs `work` on the client's session; cancels it (57014) when a session waits for a lock that it holds on the table, or at the signal. */
export async function giveWay<T>(
  pool: pg.Pool,
  client: pg.PoolClient,
  table: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await pgSql(client)('select pg_backend_pid() as pid');
  let looking: Promise<unknown> = Promise.resolve();
  const look = () => {
    const values = [rows[0]?.pid, table, signal.aborted];
    looking = looking.then(() => pgSql(pool)(cancelWhenAwaited, values)).catch(() => {});
  };
  const watch = setInterval(look, lookEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(watch);
    await looking; // a late one must not hit what comes next
  }
}

const cancelWhenAwaited = `select pg_cancel_backend($1::int) where $3::boolean or exists (
  select from pg_locks l where l.relation = to_regclass($2) and not l.granted and $1::int = any(pg_blocking_pids(l.pid)))`;
