// A change request that begins with what a dry run of a load would do to the rows of its table.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { openDryRun } from '../../imports/dry-run-changes.ts';
import type { Pools } from '../../postgres/pools.ts';
import { type DryRunReading, stale, type TableAccess, withTable } from '../../tables/open-table.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { requireRightOn } from '../../tables/table-rights.ts';
import {
  insertChangeRequest,
  lockChangeRequest,
  type NewChangeRequest,
  requirePhase,
  summarizeOne,
} from '../change-requests.ts';
import { TableChanged } from '../check.ts';
import type { ChangeRequestSummary } from '../summaries.ts';
import { requireSameBranch, takeIn } from './draft.ts';
import { storeDryRunSql } from './store-sql.ts';

type Access = TableAccess & { pools: Pools };

/**
 * Begins a request with the operations of a dry run, based on the versions that it found: rows that
 * have changed since are conflicts. One that has operations already stays as it is. 404, 403 as for
 * reading the dry run and for editing its table; 422 unless all of its rows are kept, and for none.
 */
export async function openProposedLoad(
  access: Access,
  call: CallContext,
  { load_id: loadId, ...request }: NewChangeRequest & { load_id: string },
  signal: AbortSignal,
): Promise<ChangeRequestSummary> {
  const dryRun = await openDryRun(access, call, { loadId });
  requireSomeRows(dryRun);
  return withTable(access, call, { id: dryRun.tableDefinitionId }, 'view', async (table) => {
    await requireRightOn(access, call, 'edit', table);
    requireSameBranch(request, table);
    try {
      return await withTransaction(access.pools.rows, async (sql) => {
        const summary = await store(sql, call, { table, dryRun, request });
        // The request is not made when its caller no longer waits.
        signal.throwIfAborted();
        return summary;
      });
    } catch (error) {
      if (error instanceof TableChanged) return stale;
      throw error;
    }
  });
}

// No more rows are kept than a request may have operations.
function requireSomeRows({ changed }: { changed: number }): void {
  if (changed > 0) return;
  throw validationFailed({
    code: 'blank',
    message: 'The dry run would change no row, so there is nothing to propose.',
  });
}

type Given = { table: DeployedTable; dryRun: DryRunReading; request: NewChangeRequest };

async function store(sql: Sql, call: CallContext, { table, dryRun, request }: Given): Promise<ChangeRequestSummary> {
  const { change_request_id: id } = request;
  await insertChangeRequest(sql, call, request);
  const header = await lockChangeRequest(sql, call, id);
  if (header.operation_count === 0) {
    requirePhase(header, 'draft');
    const { text, values } = storeDryRunSql(table, dryRun, { changeRequestId: id, actor: callerName(call) });
    const { rows } = await sql(text, values);
    if (rows.length === 0) throw new TableChanged();
    await takeIn(sql, header, table, rows as { id: number; is_new: boolean }[]);
  }
  return summarizeOne(sql, call, id);
}
