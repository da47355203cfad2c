// Merges the rows of one branch into another, three-way, by primary key and cell: all tables of a
// promotion in one transaction. The result is kept under the merge's id, and the merge is not
// repeated; a rehearsal does the same and is rolled back.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, retryTransaction, withTransaction } from '@almanac/service-kit/postgres/database';
import {
  findSqlState,
  isForeignKeyViolation,
  isLockTimeout,
  isMissingTable,
  isRetryable,
} from '@almanac/service-kit/postgres/errors';
import type { RowsAnnouncer } from '../events/rows-announcer.ts';
import type { Pools } from '../postgres/pools.ts';
import { type Catalogue, notDeployed } from '../tables/catalogue.ts';
import { quiescentTimestamp } from '../tables/quiescent-timestamp.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type MergeRequest, readMergeRequest } from './merge-request.ts';
import { findMerged, type MergeResult, RolledBack, refusedMerge } from './merge-result.ts';
import { MergeRun } from './merge-run.ts';
import { findTables, type KnownTables } from './planned-merges.ts';

/** What a merge works with. */
type MergeParts = {
  pools: Pools;
  catalogue: Catalogue;
  announcer: RowsAnnouncer;
  /** Has tables vacuumed that were loaded. */
  indexing: { noteLoad(table: DeployedTable, rows: number): void };
  logger: Logger;
};

const attempts = 4;

/** Merges, or answers why not; then nothing has changed. */
export async function mergeRows(parts: MergeParts, call: CallContext, raw: MergeRequest): Promise<MergeResult> {
  const request = readMergeRequest(raw);
  const known = await findMerged(pgSql(parts.pools.rows), call.accountId, request.merge_id);
  if (known && !request.rehearsal) return known;
  const attemptOnce = async (attempt: number) =>
    attemptMerge(parts, call, request, await findTables(parts.catalogue, call, request), attempt === attempts);
  const onRetry = (attempt: number, error: unknown) =>
    parts.logger.info(
      { merge_id: request.merge_id, attempt, state: findSqlState(error) },
      'a merge of rows is retried',
    );
  try {
    return await retryTransaction(attemptOnce, { attempts, isRetryable, onRetry });
  } catch (error) {
    if (isMissingTable(error)) throw notDeployed();
    if (isLockTimeout(error)) throw new ServiceError('unavailable', 'A table is in use; try again.');
    if (isForeignKeyViolation(error)) return circularReference;
    throw error;
  }
}

// Every rule was checked before: what is left are tables that refer to each other, of which none
// can be written first.
const circularReference: MergeResult = {
  ...refusedMerge,
  violations: [
    {
      table: '',
      message: 'New or deleted rows of tables that refer to each other in a circle can’t be merged at once.',
      rows: 0,
    },
  ],
};

async function attemptMerge(
  { pools, announcer, indexing }: MergeParts,
  call: CallContext,
  request: MergeRequest,
  tables: KnownTables,
  exclusive: boolean,
): Promise<MergeResult> {
  const sources = request.pairs.flatMap(({ source_table_id, target_table_id }) =>
    tables.has(target_table_id) ? (tables.get(source_table_id) ?? []) : [],
  );
  const at = request.rehearsal || sources.length === 0 ? undefined : await quiescentTimestamp(pools.work, sources);
  try {
    const result = await withTransaction(
      pools.work,
      (sql) => new MergeRun(sql, call, request, { tables, at, exclusive }).run(),
      { isolation: 'repeatable read', attempts: 1 },
    );
    for (const { target_table_id, created, updated, deleted } of result.tables) {
      const table = tables.get(target_table_id);
      const written = created + updated + deleted;
      if (!table || written === 0) continue;
      announcer.touch(table);
      indexing.noteLoad(table, written);
    }
    return result;
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    throw error;
  }
}
