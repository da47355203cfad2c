// Loads a file into a deployed table: stage, check as a set, merge. The merge and its result are one transaction; readers see the
// table as it was until it is as it shall be. A load id that has a result is never done again.
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql, withTransaction } from '@almanac/service-kit/database';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import { notDeployed } from '../catalogue/catalogue.ts';
import type { DataContext } from '../context.ts';
import { adoptTable } from '../deploy/adoption.ts';
import { tableName } from '../query/identifiers.ts';
import { requireRightToWork } from '../row-rights.ts';
import { UnreadableFile } from './end-marks.ts';
import { freshTableRows } from './fresh-table.ts';
import { type LoadOptions, planLoad, readLoadOptions, readTargets } from './load-options.ts';
import { findResult, keepFailure, type LoadResult } from './load-result.ts';
import { isWithoutRows, Merge } from './merge.ts';
import { chunksOf, type Staging, stage } from './staging.ts';

type Message = { options?: LoadOptions['raw'] | null; chunk?: Buffer | Uint8Array | string };

/** Reads options and bytes from the messages and answers the result; only faults of the call or of the system are thrown. */
export async function bulkLoad(
  ctx: DataContext,
  call: CallContext,
  requests: AsyncIterable<Message>,
  signal: AbortSignal,
): Promise<LoadResult> {
  const messages = requests[Symbol.asyncIterator]();
  const options = readLoadOptions((await messages.next()).value?.options);
  const finished = await findResult(pgSql(ctx.pools.rows), call.accountId, options.loadId);
  if (finished) return finished;
  await requireRightToWork(ctx, call, 'edit', options.tableDefinitionId);
  const table = await ctx.catalogue.get(call.accountId, { id: options.tableDefinitionId });
  const find = (id: number) => ctx.catalogue.read(call.accountId, { id });
  const targets = await readTargets(table, options, find);
  planLoad(table, options, targets);
  // Whoever looks records up learns which there are.
  for (const id of targets.keys()) await requireRightToWork(ctx, call, 'view', id);
  if (table.history_since === null) await adoptTable(ctx.pools.work, table);
  let staging: Staging;
  try {
    staging = await stage(ctx.pools.quiet, tableName(table), options, chunksOf(messages, signal));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return keepFailure(pgSql(ctx.pools.rows), call.accountId, options, { rows_read: 0, errors: [error.message] });
  }
  try {
    const result = await loadStaged(ctx, call, options, staging);
    if (!options.dryRun && result.inserted + result.updated + result.deleted > 0) ctx.announcer.touch(table);
    return result;
  } finally {
    await staging
      .drop()
      .catch((error: unknown) => ctx.logger.warn({ err: error }, 'a staged file was left to the sweep'));
  }
}

const attempts = 4;
// Others changed, added or deleted rows meanwhile, or a deployment did, or views went, or readers wouldn't let go: look again at what there is.
const worthAnother = new Set(['40001', '40P01', '23505', '23503', '23514', '42P01', '42703', '3F000', '55P03']);

async function loadStaged(
  ctx: DataContext,
  call: CallContext,
  options: LoadOptions,
  staging: Staging,
): Promise<LoadResult> {
  await staging.lockTable(options.tableDefinitionId);
  const fresh = staging.rows >= freshTableRows && (await isWithoutRows(pgSql(ctx.pools.rows), staging.target));
  for (let attempt = 1; ; attempt += 1) {
    const how = { trusting: attempt === 1, fresh: fresh && attempt <= 2, alone: attempt === attempts };
    try {
      return await withTransaction(
        ctx.pools.work,
        (sql) => new Merge(sql, ctx.sqlViews, call, options, staging, how).run(),
        {
          isolation: 'repeatable read',
          attempts: 1,
        },
      );
    } catch (error) {
      const state = findSqlState(error) ?? '';
      if (attempt < attempts && worthAnother.has(state)) {
        ctx.logger.info({ load_id: options.loadId, attempt, state }, 'a load is merged again');
        continue;
      }
      if (state === '42P01') throw notDeployed();
      if (state !== '23503') throw error;
      const errors = ['Rows that would be deleted are still referred to, by rows of this table or of others.'];
      return keepFailure(pgSql(ctx.pools.rows), call.accountId, options, { rows_read: staging.rows, errors });
    }
  }
}
