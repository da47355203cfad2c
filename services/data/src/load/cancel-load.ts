// Ends a load that nobody wants any more. A merge begins by taking its load id, so who takes it first decides: no merge follows a
// cancellation, and none is undone by one.
import type { CallContext } from '@almanac/service-kit/call-context';
import { withTransaction } from '@almanac/service-kit/database';
import type { DataContext } from '../context.ts';
import { findResult, type LoadResult, nothing } from './load-result.ts';

const cancelled: LoadResult = {
  ...nothing,
  status: 'cancelled',
  rows_read: 0,
  rejected: 0,
  rejections: [],
  errors: [],
};

/** Answers what has come of the load: `cancelled`, or what it did before. Waits for a merge that has begun. */
export async function cancelLoad(
  ctx: DataContext,
  call: CallContext,
  { loadId, tableDefinitionId }: { loadId: string; tableDefinitionId: number },
): Promise<LoadResult> {
  return withTransaction(ctx.pools.work, async (sql) => {
    await sql('set local statement_timeout = 0');
    await sql(
      `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns)
       values ($1::int, $2, $3::int, $4::jsonb, '{}') on conflict do nothing`,
      [call.accountId, loadId, tableDefinitionId, JSON.stringify(cancelled)],
    );
    return (await findResult(sql, call.accountId, loadId)) as LoadResult;
  });
}
