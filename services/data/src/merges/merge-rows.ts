// Merges the rows of one branch into another, three-way, by primary key and cell: all tables of a promotion in one transaction. What
// is merged is kept under its id and never merged again; a rehearsal does the same and is rolled back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, withTransaction } from '@almanac/service-kit/postgres/database';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import type { DataContext } from '../context.ts';
import { notDeployed } from '../tables/catalogue.ts';
import { settledInstant } from '../tables/quiescent-timestamp.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type MergeRequest, readMergeRequest } from './merge-request.ts';
import { findMerged, type MergeResult, Refused } from './merge-result.ts';
import { MergeRun } from './merge-run.ts';

const attempts = 4;
// Others changed, added or deleted rows meanwhile, or a deployment did: look again at what there is.
const worthAnother = new Set(['40001', '40P01', '23505', '23503', '23514', '42P01', '42703', '42804', '55P03']);

/** Merges, or says what stands in the way; then nothing has changed. */
export async function mergeRows(ctx: DataContext, call: CallContext, raw: MergeRequest): Promise<MergeResult> {
  const request = readMergeRequest(raw);
  const known = await findMerged(pgSql(ctx.pools.rows), call.accountId, request.merge_id);
  if (known && !request.rehearsal) return known;
  for (let attempt = 1; ; attempt += 1) {
    const tables = await findTables(ctx, call, request);
    try {
      return await attemptMerge(ctx, call, request, tables, attempt === attempts);
    } catch (error) {
      const state = findSqlState(error) ?? '';
      if (attempt < attempts && worthAnother.has(state)) {
        ctx.logger.info({ merge_id: request.merge_id, attempt, state }, 'rows are merged again');
        await sleep(50 * attempt);
        continue;
      }
      if (state === '42P01' || state === '3F000') throw notDeployed();
      if (state === '55P03') throw new ServiceError('unavailable', 'A table is in use; try again.');
      if (state === '23503') return circle;
      throw error;
    }
  }
}

// Every rule was asked before: what is left are tables that refer to each other, of which none can be written first.
const circle: MergeResult = {
  status: 'refused',
  conflicts: [],
  conflict_count: 0,
  undecided_count: 0,
  strange: [],
  violations: [
    {
      table: '',
      message: 'New or deleted rows of tables that refer to each other in a circle can’t be merged at once.',
      rows: 0,
    },
  ],
  warnings: [],
  tables: [],
};

type Tables = ReadonlyMap<number, DeployedTable>;

async function findTables(ctx: DataContext, call: CallContext, { pairs }: MergeRequest): Promise<Tables> {
  const found = new Map<number, DeployedTable>();
  for (const id of new Set(pairs.flatMap((pair) => [pair.source_table_id, pair.target_table_id]))) {
    const table = await ctx.catalogue.read(call.accountId, { id });
    if (table) found.set(id, table);
  }
  return found;
}

async function attemptMerge(
  ctx: DataContext,
  call: CallContext,
  request: MergeRequest,
  tables: Tables,
  alone: boolean,
): Promise<MergeResult> {
  const sources = request.pairs.flatMap(({ source_table_id, target_table_id }) =>
    tables.has(target_table_id) ? (tables.get(source_table_id) ?? []) : [],
  );
  const at = request.rehearsal || sources.length === 0 ? undefined : await settledInstant(ctx.pools.work, sources);
  try {
    const result = await withTransaction(
      ctx.pools.work,
      (sql) => new MergeRun(sql, call, request, { tables, at, alone }).run(),
      { isolation: 'repeatable read', attempts: 1 },
    );
    for (const { target_table_id, created, updated, deleted } of result.tables)
      if (created + updated + deleted > 0) ctx.announcer.touch({ table_definition_id: target_table_id });
    return result;
  } catch (error) {
    if (error instanceof Refused) return error.result;
    throw error;
  }
}
