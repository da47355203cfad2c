// Transactions of housekeeping, which must not delay other sessions.
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockConflict } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';

/**
 * Runs `work` in a transaction that waits `lockTimeout` for a lock. Undefined when it did not get
 * one: nothing was changed, and the next round tries again.
 */
export function withBriefLocks<T>(
  pool: pg.Pool,
  lockTimeout: '2s' | '5s',
  work: (sql: Sql) => Promise<T>,
): Promise<T | undefined> {
  return withTransaction(pool, async (sql) => {
    await sql("select set_config('lock_timeout', $1, true)", [lockTimeout]);
    return work(sql);
  }).catch((error: unknown) => {
    if (!isLockConflict(error)) throw error;
    return undefined;
  });
}
