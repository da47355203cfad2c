// Cancels a load. A merge begins by inserting its load id, so the first to insert it decides: after
// a cancellation no merge begins, and a merge that has committed stays.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockTimeout } from '@almanac/service-kit/postgres/errors';
import type { Pools } from '../postgres/pools.ts';
import { findResult, type LoadResult, zeroCounts } from './load-result.ts';
import { endSessions } from './staging/load-sessions.ts';

const cancelled: LoadResult = {
  ...zeroCounts,
  status: 'cancelled',
  rows_read: 0,
  rejected: 0,
  rejections: [],
  errors: [],
};

/** A session that is terminated rolls back first, which may take a while. */
const attempts = 60;

/**
 * Answers the result of the load: `cancelled`, or what it was before. Sessions of the load are
 * ended at once, over a pool of its own, so that no other work delays it.
 */
export async function cancelLoad(
  { pools }: { pools: Pools },
  call: CallContext,
  { loadId, tableDefinitionId }: { loadId: string; tableDefinitionId: number },
): Promise<LoadResult> {
  const { control } = pools;
  const insertCancellation = () =>
    withTransaction(control, async (sql) => {
      await sql(
        `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns)
         values ($1::int, $2, $3::int, $4::jsonb, '{}') on conflict do nothing`,
        [call.accountId, loadId, tableDefinitionId, JSON.stringify(cancelled)],
      );
      return (await findResult(sql, call.accountId, loadId)) as LoadResult;
    });
  const cancel = async () => {
    const kept = await findResult(pgSql(control), call.accountId, loadId);
    if (kept) return kept;
    await endSessions(pgSql(control), { accountId: call.accountId, loadId });
    return insertCancellation();
  };
  // Retried while a merge holds the load id; the lock timeout of these connections is the pause.
  return retryTransaction(cancel, { attempts, isRetryable: isLockTimeout, pauseMs: () => 0 });
}
