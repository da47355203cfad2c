// The result of a merge, and where it is kept: a merge id that has one is not merged again.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { TableMessage } from './merge-plan.ts';
import type { MergePair } from './merge-request.ts';
import type { MergeSummary } from './merge-summary.ts';

/** Values are JSON texts; `column` and `attribute` as promotions name conflicts. */
export type RowConflict = {
  table: string;
  row_key: string;
  column: string;
  base: string;
  source: string;
  target: string;
  resolution: string;
};
export type MergedTable = MergePair & { table: string; created: number; updated: number; deleted: number };
export type MergeResult = {
  status: 'merged' | 'rehearsed' | 'refused';
  /** The first of them. */
  conflicts: RowConflict[];
  conflict_count: number;
  undecided_count: number;
  /** Places of resolutions that match no conflict. */
  unmatched_resolutions: number[];
  violations: TableMessage[];
  warnings: TableMessage[];
  tables: MergedTable[];
  /** What the merge would do, whatever is decided about conflicts; only where it is needed. */
  summaries: MergeSummary[];
  /** Sources whose rows, or the rows on the target beside them, are not those of the revisions. */
  changed_tables: number[];
};

/** A merge that changes nothing. */
export const refusedMerge: MergeResult = {
  status: 'refused',
  conflicts: [],
  conflict_count: 0,
  undecided_count: 0,
  unmatched_resolutions: [],
  violations: [],
  warnings: [],
  tables: [],
  summaries: [],
  changed_tables: [],
};

/** Thrown to roll a refused or rehearsed merge back. */
export class RolledBack extends Error {
  readonly result: MergeResult;
  constructor(result: MergeResult) {
    super('not merged');
    this.result = result;
  }
}

/** The result of a merge; undefined when no merge was done under this id. */
export async function findMerged(sql: Sql, accountId: number, mergeId: string): Promise<MergeResult | undefined> {
  const { rows } = await sql('select result from finished_merge where account_id = $1::int and merge_id = $2', [
    accountId,
    mergeId,
  ]);
  const kept = rows[0]?.result as MergeResult | undefined;
  // Only merges without them are kept; results of earlier releases don't have these fields.
  return kept && { ...kept, unmatched_resolutions: [], summaries: [], changed_tables: [] };
}

/**
 * Deletes results of merges that finished more than 30 days ago: metadata has asked for them by
 * then.
 */
export async function sweepMerged(sql: Sql): Promise<void> {
  await sql(`delete from finished_merge where finished_at < now() - interval '30 days'`);
}
