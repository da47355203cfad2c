// Retires a deployed table, in the transaction of a removal or a deployment: its rows and history
// stay under other names until they are restored or seven days have passed.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { historyName, retiredHistoryName, retiredTableName, tableName } from '../sql/identifiers.ts';
import type { DeployedTable } from '../tables/table.ts';
import { objectsOf } from './schema/objects.ts';
import type { TableObject } from './schema/table-object.ts';

/**
 * How a table is retired: its foreign keys are dropped first, since they depend on keys of other
 * tables.
 */
export type Retirement = { table: DeployedTable; dropForeignKeys: string[]; drops: string[] };

/**
 * Plans the retirement of a table. `findTable`: the deployed tables that it refers to, by lineage.
 * Pure.
 */
export function planRetirement(table: DeployedTable, findTable: (lineageId: number) => DeployedTable): Retirement {
  const objects = objectsOf(table, findTable).toReversed();
  const isForeignKey = ({ kind }: TableObject) => kind === 'foreign key';
  return {
    table,
    dropForeignKeys: objects.filter(isForeignKey).map(({ drop }) => drop),
    drops: objects.filter((object) => !isForeignKey(object)).map(({ drop }) => drop),
  };
}

// Names of indexes are unique in the schema, so indexes are dropped; rows and history stay, and the
// catalogue entry says how to restore the table.
/** Retires a table whose foreign keys, and those that refer to it, are dropped. */
export async function retire(sql: Sql, { table, drops }: Retirement): Promise<void> {
  for (const drop of drops) await sql(drop);
  const { rows } = await sql(
    `insert into retired_table (account_id, table_definition_id, branch_id, entry)
     values ($1::int, $2::int, $3::int, $4::jsonb) returning id`,
    [table.account_id, table.table_definition_id, table.branch_id, JSON.stringify(table)],
  );
  await sql(
    `insert into table_removal (table_definition_id, account_id, removed_at)
     values ($1::int, $2::int, date_trunc('milliseconds', clock_timestamp()))
     on conflict (table_definition_id) do update set removed_at = excluded.removed_at`,
    [table.table_definition_id, table.account_id],
  );
  await sql(`alter table ${tableName(table)} rename to ${retiredTableName(rows[0]?.id)}`);
  await sql(`alter table ${historyName(table)} rename to ${retiredHistoryName(rows[0]?.id)}`);
  await deleteEntries(sql, [table.table_definition_id]);
}

/** Deletes the catalogue entries of tables. */
export async function deleteEntries(sql: Sql, ids: number[]): Promise<void> {
  await sql('delete from deployed_table where table_definition_id = any($1::int[])', [ids]);
  await sql('delete from announced_rows where table_definition_id = any($1::int[])', [ids]);
}
