// Loads a file into a deployed table: staging, checks over the whole set, merge. The merge and its
// result are one transaction; readers see the table as it was until that commits. A load id that
// has a result is not loaded again.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import {
  findSqlState,
  isCancelled,
  isForeignKeyViolation,
  isMissingTable,
  isRetryable,
  isSessionEnded,
} from '@almanac/service-kit/postgres/errors';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { RowsAnnouncer } from '../events/rows-announcer.ts';
import type { AccountLimiter } from '../postgres/account-limiter.ts';
import type { Pools } from '../postgres/pools.ts';
import { tableName } from '../sql/identifiers.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { type Catalogue, notDeployed } from '../tables/catalogue.ts';
import type { TableAccess } from '../tables/open-table.ts';
import { requireLoadable } from '../tables/row-policy.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import { freshTableRows } from './fresh-table.ts';
import { findResult, keepFailure, type LoadResult } from './load-result.ts';
import { hasNoRows, Merge } from './merge.ts';
import { type LoadOptions, planLoad, readLoadOptions, readTargets } from './plan/load-options.ts';
import { UnreadableFile } from './staging/copy-terminator.ts';
import { loadLimits } from './staging/load-limits.ts';
import type { Staging } from './staging/staged-file.ts';
import { chunksOf, limitBytes, stage } from './staging/staging.ts';

/** What a load takes. */
type LoadParts = {
  pools: Pools;
  limiters: { work: AccountLimiter; quiet: AccountLimiter };
  catalogue: Catalogue;
  rights: Rights;
  sqlViews: SqlViews;
  announcer: RowsAnnouncer;
  usage: TableAccess['usage'];
  /** Has tables vacuumed that were loaded. */
  indexing: { noteLoad(table: DeployedTable, rows: number): void };
  logger: Logger;
};

type Message = { options?: LoadOptions['raw'] | null; chunk?: Buffer | Uint8Array | string };

/**
 * Reads options and bytes from the messages and answers the result. Throws only for faults of the
 * call or of the system.
 */
export async function bulkLoad(
  parts: LoadParts,
  call: CallContext,
  requests: AsyncIterable<Message>,
  signal: AbortSignal,
): Promise<LoadResult> {
  const messages = requests[Symbol.asyncIterator]();
  const options = readLoadOptions((await messages.next()).value?.options);
  const finished = await findResult(pgSql(parts.pools.rows), call.accountId, options.loadId);
  if (finished) return finished;
  await requireRightToWork(parts, call, 'edit', options.tableDefinitionId);
  const find = (id: number) => parts.catalogue.read(call.accountId, { id });
  const table = await find(options.tableDefinitionId);
  if (!table) throw notDeployed();
  // Once more when it has the lock of the table (`merge.ts`); here, before the file is staged.
  if (!options.dryRun) requireLoadable(table, call);
  const targets = await readTargets(table, options, find);
  planLoad(table, options, targets);
  // A lookup reveals which records exist, so it needs `view` on their table.
  for (const id of targets.keys()) await requireRightToWork(parts, call, 'view', id);
  const chunks = limitBytes(options.maxBytes, chunksOf(messages, signal));
  const result = await parts.limiters.quiet.run(call.accountId, signal, () =>
    stageAndLoad(parts, call, { options, table, chunks, signal }),
  );
  const written = options.dryRun ? 0 : result.inserted + result.updated + result.deleted;
  if (written > 0) {
    parts.usage.note(table, call, 'write');
    parts.announcer.touch(table);
    parts.indexing.noteLoad(table, written);
  }
  return result;
}

type Load = { options: LoadOptions; table: DeployedTable; chunks: AsyncIterable<Buffer>; signal: AbortSignal };

async function stageAndLoad(
  parts: LoadParts,
  call: CallContext,
  { options, table, chunks, signal }: Load,
): Promise<LoadResult> {
  const { accountId } = call;
  let staging: Staging;
  try {
    staging = await stage(parts.pools.quiet, { accountId, target: tableName(table), options }, chunks);
  } catch (error) {
    if (error instanceof UnreadableFile)
      return keepFailure(pgSql(parts.pools.rows), accountId, options, { rows_read: 0, errors: [error.message] });
    return findResultOfEnded(parts, call, options, error);
  }
  try {
    await staging.lockTable(options.tableDefinitionId);
    return await parts.limiters.work.run(accountId, signal, () => loadStaged(parts, call, options, staging));
  } catch (error) {
    return await findResultOfEnded(parts, call, options, error);
  } finally {
    await staging
      .drop()
      .catch((error: unknown) =>
        parts.logger.warn({ err: error }, 'a staged file was not dropped; housekeeping drops it'),
      );
  }
}

// Cancelling a load ends its sessions; the cancellation is then its result.
async function findResultOfEnded(
  { pools }: Pick<LoadParts, 'pools'>,
  call: CallContext,
  { loadId }: LoadOptions,
  error: unknown,
) {
  const kept = isSessionEnded(error)
    ? await findResult(pgSql(pools.rows), call.accountId, loadId).catch(() => undefined)
    : undefined;
  if (!kept) throw error;
  return kept;
}

const attempts = 4;

/** Why a load fails that no further attempt would complete. */
function findRefusal(error: unknown): string | undefined {
  if (isForeignKeyViolation(error))
    return 'Rows that would be deleted are still referred to, by rows of this table or of others.';
  if (isCancelled(error))
    return `A step took longer than ${loadLimits.statementMinutes} minutes; nothing was loaded. Split the file.`;
  return undefined;
}

async function loadStaged(
  parts: LoadParts,
  call: CallContext,
  options: LoadOptions,
  staging: Staging,
): Promise<LoadResult> {
  const isForEmptyTable = staging.rows >= freshTableRows && (await hasNoRows(pgSql(parts.pools.rows), staging.target));
  const merge = (sql: Sql, _client: unknown, attempt: number) => {
    const mode = {
      deferChecks: attempt === 1,
      rebuildTable: isForEmptyTable && attempt <= 2,
      exclusive: attempt === attempts,
    };
    return new Merge(sql, parts.sqlViews, call, options, staging, mode).run();
  };
  const onRetry = (attempt: number, error: unknown) =>
    parts.logger.info(
      { load_id: options.loadId, attempt, state: findSqlState(error) },
      'the merge of a load is retried',
    );
  try {
    const retries = { attempts, isRetryable, pauseMs: () => 0, onRetry };
    return await withTransaction(parts.pools.work, merge, { isolation: 'repeatable read', ...retries });
  } catch (error) {
    if (isMissingTable(error)) throw notDeployed();
    const refusal = findRefusal(error);
    if (refusal === undefined) throw error;
    const failure = { rows_read: staging.rows, errors: [refusal] };
    return keepFailure(pgSql(parts.pools.rows), call.accountId, options, failure);
  }
}
