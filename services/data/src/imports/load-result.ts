// The result of a load, and where it is kept: a load id that has one is not loaded again.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { RejectedValue } from './checks/reject-rows.ts';
import type { LoadOptions } from './plan/load-options.ts';

export type LoadResult = {
  status: 'completed' | 'completed_with_errors' | 'failed' | 'cancelled';
  rows_read: number;
  inserted: number;
  updated: number;
  deleted: number;
  unchanged: number;
  rejected: number;
  /** The first 100. */
  rejections: RejectedValue[];
  /** Why the whole file was refused. */
  errors: string[];
};

export type Counts = Pick<LoadResult, 'inserted' | 'updated' | 'deleted' | 'unchanged'>;

export const zeroCounts: Counts = { inserted: 0, updated: 0, deleted: 0, unchanged: 0 };

/** The result of a load that ended. */
export async function findResult(sql: Sql, accountId: number, loadId: string): Promise<LoadResult | undefined> {
  const { rows } = await sql('select result from finished_load where account_id = $1::int and load_id = $2', [
    accountId,
    loadId,
  ]);
  return rows[0]?.result as LoadResult | undefined;
}

/** Keeps and answers the result of a file that was refused as a whole. */
export async function keepFailure(
  sql: Sql,
  accountId: number,
  options: LoadOptions,
  failure: Pick<LoadResult, 'rows_read' | 'errors'>,
): Promise<LoadResult> {
  const result: LoadResult = { ...zeroCounts, rejected: 0, rejections: [], status: 'failed', ...failure };
  await insertResult(sql, accountId, options, result);
  return result;
}

/** Stores the result of a load; false when it has one already. */
export async function insertResult(
  sql: Sql,
  accountId: number,
  options: LoadOptions,
  result: LoadResult | Record<string, never>,
): Promise<boolean> {
  const { rows } = await sql(
    `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns, import_table_id, dry_run, import_id)
     values ($1::int, $2, $3::int, $4::jsonb, $5::text[], $6::int, $7::boolean, $8::int) on conflict do nothing returning true`,
    [
      accountId,
      options.loadId,
      options.tableDefinitionId,
      JSON.stringify(result),
      options.fileColumns,
      options.importTableId,
      options.dryRun,
      options.importId,
    ],
  );
  return rows.length > 0;
}
