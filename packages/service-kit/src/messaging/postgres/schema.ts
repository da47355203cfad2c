// The schema of the PostgreSQL bus, and the lock under which processes create its parts.
import type pg from 'pg';
import { withTransaction } from '../../postgres/database.ts';

export const schema = 'bus';

/** Messages too large for a notification; subscribers read them here. */
export const largeMessageTable = `
  create table if not exists ${schema}.large_message (
    id uuid primary key, message jsonb not null, created_at timestamptz not null default now()
  )`;

/** Runs `work` while no other process creates queues or tables of the bus in this database. */
export function exclusively(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  return withTransaction(
    pool,
    async (sql) => {
      await sql("select pg_advisory_xact_lock(hashtext('almanac'), hashtext('bus'))::text");
      await work();
    },
    { attempts: 1 },
  );
}
