// The merge base of two tables: the last state that their rows had in common, kept as an instant of
// one of them. Its history still has those rows, so no second copy is kept
// (docs/adr/0010-merging-rows.md). Written in the transaction that copies or merges.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { DeployedTable } from '../tables/table.ts';
import { isDroppedSql } from './dropped-tables-sql.ts';

type Pair = { source: DeployedTable; target: DeployedTable };

/** The base of a merge. `isLost`: there is one, but the history no longer goes back so far. */
export async function findBase(
  sql: Sql,
  { source, target }: Pair,
): Promise<{ base: Base | undefined; isLost: boolean }> {
  const { rows } = await sql(
    `select table_definition_id, to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, columns from row_base
     where account_id = $1::int and (table_definition_id, other_id) in (($2::int, $3::int), ($3::int, $2::int))
     order by table_definition_id = $2::int desc`,
    [source.account_id, source.table_definition_id, target.table_definition_id],
  );
  const found = rows.map(
    (row): Base => ({
      table: row.table_definition_id === source.table_definition_id ? source : target,
      at: row.at,
      columns: new Set(row.columns as number[]),
    }),
  );
  const base = found.find(({ table, at }) => table.history_since <= Date.parse(at));
  return { base, isLost: found.length > 0 && !base };
}

/**
 * Replaces the base of two tables: both have `table` as it was at `at` in common, for these
 * columns.
 */
export async function moveBase(
  sql: Sql,
  { source, target }: Pair,
  bases: { table: DeployedTable; at: string; columns: number[] }[],
): Promise<void> {
  await sql(
    `delete from row_base where account_id = $1::int
     and (table_definition_id, other_id) in (($2::int, $3::int), ($3::int, $2::int))`,
    [source.account_id, source.table_definition_id, target.table_definition_id],
  );
  for (const { table, at, columns } of bases)
    await sql(
      `insert into row_base (account_id, table_definition_id, other_id, at, columns)
       values ($1::int, $2::int, $3::int, $4::timestamptz, $5::int[])`,
      [
        source.account_id,
        table.table_definition_id,
        (table === source ? target : source).table_definition_id,
        at,
        columns,
      ],
    );
}

/**
 * Deletes bases of tables that can't be restored. A move enters the tables of an account in the
 * catalogue last, so bases of arriving accounts stay.
 */
export async function sweepBases(sql: Sql): Promise<void> {
  await sql(
    `delete from row_base b where ((${isDroppedSql('b.table_definition_id')}) or (${isDroppedSql('b.other_id')}))
     and not exists (select from arriving_account a where a.account_id = b.account_id)`,
  );
}

/** A base: `table` as it was at `at`, for these `columns` (lineages). */
export type Base = { table: DeployedTable; at: string; columns: ReadonlySet<number> };
