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
import { rowDecisions } from './decisions/row-decisions.ts';
import type { MergePlan } from './merge-plan.ts';
import { mergedRowsSql } from './merge-relation-sql.ts';
import { type MergePair, requireDistinct } from './merge-request.ts';
import { type MergeSummary, mergeKinds, readSummary, summarySql } from './merge-summary.ts';
import { type MergedFilter, windowSql } from './merge-window-sql.ts';
import { findTables, planMerges } from './planned-merges.ts';

/** Tables to merge. `promotion_id`: the one whose decisions on rows count; 0: none. */
type Merged = { pairs: MergePair[]; promotion_id: number };

export type MergeReadParts = { pools: Pools; catalogue: Catalogue; limiters: { quiet: AccountLimiter } };

/** What merging each pair would do, and its revision; pairs that can't be merged are left out. */
export function summarizeMerge(
  parts: MergeReadParts,
  call: CallContext,
  merged: Merged,
  signal: AbortSignal,
): Promise<MergeSummary[]> {
  return withPlans(parts, call, merged, signal, async (plans, query) => {
    const summaries: MergeSummary[] = [];
    for (const plan of plans) {
      const statement = summarySql(plan, (bind) => `(${mergedRowsSql(plan, bind)}) m`);
      summaries.push(readSummary(plan, await query(statement)));
    }
    return summaries;
  });
}

/** `kind` and `decision` empty: all; `conflict` undefined: with and without. */
export type MergedRowFilter = { kind: string; conflict?: boolean | undefined; decision: string };

type MergedRowsRequest = Merged & MergedRowFilter & { start_row: number; end_row: number; exact_numbers: boolean };

/**
 * A window of the rows that a merge concerns, table by table in the order of the pairs and by key,
 * as chunks of the JSON {rows, rowCount, counts}. 400 for a window that is none.
 */
export function readMergedRows(
  parts: MergeReadParts,
  call: CallContext,
  { pairs, promotion_id, start_row, end_row, exact_numbers: exactNumbers, ...filter }: MergedRowsRequest,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const wanted = { ...readFilter(filter), exactNumbers };
  let { offset, limit } = readWindow({ start_row, end_row });
  return withPlans(parts, call, { pairs, promotion_id }, signal, async (plans, query) => {
    let [bytes, rowCount] = [0, 0];
    const counts = { create: 0, update: 0, delete: 0, with_conflict: 0, undecided: 0, accepted: 0, rejected: 0 };
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
    const { create, update, delete: deleted, with_conflict, ...decisions } = counts;
    const shown = { kinds: { create, update, delete: deleted }, with_conflict, decisions };
    return answerChunks(`{"rows":[${rows.join(',')}],"rowCount":${rowCount},"counts":${JSON.stringify(shown)}}`);
  });
}

/** 400 for a window that is none. */
export function readWindow({ start_row, end_row }: { start_row: number; end_row: number }): {
  offset: number;
  limit: number;
} {
  if (start_row < 0 || end_row < start_row || end_row - start_row > limits.gridRows)
    throw new ServiceError('bad_request', { code: 'out_of_range', message: 'There is no such window of rows.' });
  return { offset: start_row, limit: end_row - start_row };
}

/** 400 for words that are none of a filter. */
export function readFilter({ kind, conflict, decision }: MergedRowFilter): MergedFilter {
  return { kind: readWord(mergeKinds, kind), conflict, decision: readWord(rowDecisions, decision) };
}

/** One of the words; undefined for an empty text. 400 for any other. */
export function readWord<T extends string>(words: readonly T[], text: string): T | undefined {
  const word = words.find((each) => each === text);
  if (word === undefined && text !== '')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: `${text} is not one of ${words.join(', ')}.`,
    });
  return word;
}

export type Query = (statement: Statement) => Promise<Record<string, unknown>>;

/** How a transaction over plans begins: by default as one snapshot of all that is read. */
type Begin = { isolation: 'repeatable read' | 'read committed'; lock?: (sql: Sql) => Promise<void> };

/**
 * Works with the plans of a merge; pairs that can't be merged have none. Deployments wait until the
 * end. LOCK takes no snapshot: the first statement that does reads the catalogue, when the tables
 * are locked already.
 */
export async function withPlans<T>(
  { pools, catalogue, limiters }: MergeReadParts,
  call: CallContext,
  { pairs, promotion_id }: Merged,
  signal: AbortSignal,
  work: (plans: MergePlan[], query: Query) => Promise<T>,
  { isolation, lock }: Begin = { isolation: 'repeatable read' },
): Promise<T> {
  requireDistinct(pairs);
  const tables = await findTables(catalogue, call, { pairs });
  const planAndWork = async (sql: Sql) => {
    await sql(`set local lock_timeout = '5s'`);
    await sql(`set local work_mem = '128MB'`);
    await lock?.(sql);
    if (tables.size > 0) await sql(`lock table ${[...tables.values()].map(tableName).join(', ')} in access share mode`);
    const request = { pairs, promotion_id, resolutions: [] };
    const { plans } = await planMerges(sql, call.accountId, request, { tables, at: undefined });
    return work(plans, async ({ text, values }) => {
      signal.throwIfAborted(); // the caller no longer waits
      return (await sql(text, values)).rows[0] as Record<string, unknown>;
    });
  };
  try {
    return await limiters.quiet.run(call.accountId, signal, () =>
      withTransaction(pools.quiet, planAndWork, { isolation }),
    );
  } catch (error) {
    if (isMissingTable(error)) throw notDeployed();
    if (isLockTimeout(error)) throw new ServiceError('unavailable', 'A table is in use; try again.');
    throw error;
  }
}
