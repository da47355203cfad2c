// Opens a table for a write by hand: with the right to edit, unless its rows come from imports.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { validationFailed } from '@almanac/service-kit/errors';
import type { DataContext } from '../context.ts';
import type { stale } from '../tables/catalogue.ts';
import { type TableRequest, useTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { findKept } from './idempotency.ts';

/**
 * The same for whoever writes rows by hand, which needs the right to edit. 422 where rows come from imports: the next file would undo
 * it. A repeated request gets the answer from before the table was one of those.
 */
export function writeTable(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  write: (table: DeployedTable) => Promise<Answer | typeof stale>,
): Promise<Answer> {
  return useTable(ctx, call, reference, 'edit', async (table) => {
    if (table.load_type !== 'source') return write(table);
    const kept = await findKept(ctx, call);
    if (kept) return kept;
    throw validationFailed('Rows of this table come from imports (load type source); they are not written by hand.');
  });
}
