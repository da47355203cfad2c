// Reads what a merge would do: the same rows that it would write, computed in one snapshot and not
// kept.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { answerTooLarge, isLockTimeout, isMissingTable } from '@almanac/service-kit/postgres/errors';
import type { AccountLimiter } from '../postgres/account-limiter.ts';
import type { Pools } from '../postgres/pools.ts';
import { answerChunks } from '../rows/answer-chunks.ts';
import { tableName } from '../sql/identifiers.ts';
import type { Statement } from '../sql/statement.ts';
import { type Catalogue, notDeployed } from '../tables/catalogue.ts';
import type { MergePlan } from './merge-plan.ts';
import { mergedRowsSql } from './merge-relation-sql.ts';
import { type MergePair, requireDistinct } from './merge-request.ts';
import { type MergeKind, type MergeSummary, mergeKinds, readSummary, summarySql } from './merge-summary.ts';
import { windowSql } from './merge-window-sql.ts';
import { findTables, planMerges } from './planned-merges.ts';

type MergeReadParts = { pools: Pools; catalogue: Catalogue; limiters: { quiet: AccountLimiter } };

/** What merging each pair would do, and its revision; pairs that can't be merged are left out. */
export function summarizeMerge(
  parts: MergeReadParts,
  call: CallContext,
  pairs: MergePair[],
  signal: AbortSignal,
): Promise<MergeSummary[]> {
  return readPlans(parts, call, pairs, signal, async (plans, query) => {
    const summaries: MergeSummary[] = [];
    for (const plan of plans) {
      const statement = summarySql(plan, (bind) => `(${mergedRowsSql(plan, bind)}) m`);
      summaries.push(readSummary(plan, await query(statement)));
    }
    return summaries;
  });
}

/** `kind` empty: all; `conflict` undefined: with and without. */
type MergedRowsRequest = {
  pairs: MergePair[];
  kind: string;
  conflict?: boolean | undefined;
  start_row: number;
  end_row: number;
  exact_numbers: boolean;
};

/**
 * A window of the rows that a merge concerns, table by table in the order of the pairs and by key,
 * as chunks of the JSON {rows, rowCount, counts}. 400 for a window that is none.
 */
export function readMergedRows(
  parts: MergeReadParts,
  call: CallContext,
  { pairs, kind, conflict, start_row, end_row, exact_numbers: exactNumbers }: MergedRowsRequest,
  signal: AbortSignal,
): Promise<Buffer[]> {
  if (start_row < 0 || end_row < start_row || end_row - start_row > limits.gridRows || !isKind(kind))
    throw new ServiceError('bad_request', { code: 'out_of_range', message: 'There is no such window of rows.' });
  const wanted = { kind: kind === '' ? undefined : kind, conflict, exactNumbers };
  return readPlans(parts, call, pairs, signal, async (plans, query) => {
    let [offset, limit, bytes, rowCount] = [start_row, end_row - start_row, 0, 0];
    const counts = { create: 0, update: 0, delete: 0, with_conflict: 0 };
    const rows: string[] = [];
    for (const plan of plans) {
      const found = await query(windowSql(plan, { ...wanted, offset, limit }));
      const matching = Number(found.matching);
      rowCount += matching;
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += Number(found[name]);
      limit -= Math.min(limit, Math.max(0, matching - offset));
      offset = Math.max(0, offset - matching);
      const answer = found.answer as string;
      if (answer !== '') rows.push(answer);
      bytes += Buffer.byteLength(answer);
      if (bytes > limits.answerBytes) throw answerTooLarge();
    }
    const { with_conflict, ...kinds } = counts;
    return answerChunks(
      `{"rows":[${rows.join(',')}],"rowCount":${rowCount},"counts":${JSON.stringify({ kinds, with_conflict })}}`,
    );
  });
}

const isKind = (kind: string): kind is MergeKind | '' =>
  kind === '' || (mergeKinds as readonly string[]).includes(kind);

type Query = (statement: Statement) => Promise<Record<string, unknown>>;

// Deployments wait until the snapshot is read. LOCK takes no snapshot: the first statement that
// does reads the catalogue, when the tables are locked already.
async function readPlans<T>(
  { pools, catalogue, limiters }: MergeReadParts,
  call: CallContext,
  pairs: MergePair[],
  signal: AbortSignal,
  read: (plans: MergePlan[], query: Query) => Promise<T>,
): Promise<T> {
  requireDistinct(pairs);
  const tables = await findTables(catalogue, call, { pairs });
  const work = async (sql: Sql) => {
    await sql(`set local lock_timeout = '5s'`);
    await sql(`set local work_mem = '128MB'`);
    if (tables.size > 0) await sql(`lock table ${[...tables.values()].map(tableName).join(', ')} in access share mode`);
    const { plans } = await planMerges(sql, call.accountId, { pairs, resolutions: [] }, { tables, at: undefined });
    return read(plans, async ({ text, values }) => {
      signal.throwIfAborted(); // the caller no longer waits
      return (await sql(text, values)).rows[0] as Record<string, unknown>;
    });
  };
  try {
    return await limiters.quiet.run(call.accountId, signal, () =>
      withTransaction(pools.quiet, work, { isolation: 'repeatable read' }),
    );
  } catch (error) {
    if (isMissingTable(error)) throw notDeployed();
    if (isLockTimeout(error)) throw new ServiceError('unavailable', 'A table is in use; try again.');
    throw error;
  }
}
