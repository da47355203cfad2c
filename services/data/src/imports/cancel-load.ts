// Ends a load that nobody wants any more. A merge begins by taking its load id, so who takes it first decides: no merge follows a
// cancellation, and none that has committed is undone by one.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockTimeout } from '@almanac/service-kit/postgres/errors';
import type { Pools } from '../postgres/pools.ts';
import { findResult, type LoadResult, nothing } from './load-result.ts';
import { endSessions } from './staging/load-sessions.ts';

const cancelled: LoadResult = {
  ...nothing,
  status: 'cancelled',
  rows_read: 0,
  rejected: 0,
  rejections: [],
  errors: [],
};

/** A session that was told to end may need a while to undo what it did. */
const attempts = 60;

/**
 * Answers what has come of the load: `cancelled`, or what it did before. What has begun and not committed is ended at once, on connections
 * that no other work takes.
 */
export async function cancelLoad(
  { pools }: { pools: Pools },
  call: CallContext,
  { loadId, tableDefinitionId }: { loadId: string; tableDefinitionId: number },
): Promise<LoadResult> {
  const { control } = pools;
  const take = () =>
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
    return take();
  };
  // Retried while a merge holds the load id; the lock timeout of these connections is the pause.
  return retryTransaction(cancel, { attempts, isRetryable: isLockTimeout, pauseMs: () => 0 });
}
