// What a merge answers, and where answers are kept: a merge id that has one is never done again.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { Told } from './merge-plan.ts';
import type { MergePair } from './merge-request.ts';

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
  /** Places of resolutions that are about no conflict. */
  strange: number[];
  violations: Told[];
  warnings: Told[];
  tables: MergedTable[];
};

/** Thrown to roll back what was only looked at. */
export class Refused extends Error {
  readonly result: MergeResult;
  constructor(result: MergeResult) {
    super('not merged');
    this.result = result;
  }
}

/** What came of a merge; undefined when nothing was merged under this id. */
export async function findMerged(sql: Sql, accountId: number, mergeId: string): Promise<MergeResult | undefined> {
  const { rows } = await sql('select result from finished_merge where account_id = $1::int and merge_id = $2', [
    accountId,
    mergeId,
  ]);
  return rows[0]?.result as MergeResult | undefined;
}

/** Forgets merges that nobody asks for again: whoever has begun one asks until he knows its end. */
export async function sweepMerged(sql: Sql): Promise<void> {
  await sql(`delete from finished_merge where finished_at < now() - interval '30 days'`);
}
