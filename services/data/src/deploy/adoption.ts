// Gives a history to tables that an earlier release deployed: one at a time, in the background after the start, or when somebody
// needs one first. While replicas of that release still run beside this one, they may go on deploying tables without.
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/database';
import type { Logger } from '@almanac/service-kit/logger';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import type pg from 'pg';
import { catalogueSql } from '../catalogue/catalogue.ts';
import type { DeployedTable } from '../catalogue/structure.ts';
import { tableName } from '../query/identifiers.ts';
import { createHistory, historyObjects } from './history-ddl.ts';

type Place = Pick<DeployedTable, 'account_id' | 'table_definition_id' | 'branch_id' | 'lineage_id'>;

/** Begins the history of a table that has none; one that has is left as it is. Fails with 55P03 when readers don't let go. */
export async function adoptTable(pool: pg.Pool, table: Place): Promise<void> {
  await withTransaction(pool, async (sql) => {
    await sql("select set_config('lock_timeout', '3s', true)");
    await sql(`lock table ${tableName(table)} in share row exclusive mode`);
    const { text, values } = catalogueSql.byId(table.account_id, table.table_definition_id);
    const [found] = (await sql(text, values)).rows;
    if (found) await beginHistory(sql, found as DeployedTable);
  });
}

/** The same inside a transaction that keeps writers out of the table. */
export async function beginHistory(sql: Sql, table: DeployedTable): Promise<void> {
  if (table.history_since !== null) return;
  await sql(
    `alter table ${tableName(table)} add column if not exists svc_channel "char", add column if not exists svc_request_id text`,
  );
  for (const statement of createHistory(table)) await sql(statement);
  for (const { create } of historyObjects(table)) await sql(create);
  // What was remembered of the table is of yesterday: statements that name the new columns begin with the new revision.
  const { rows } = await sql(
    `update deployed_table set revision = nextval('deployed_revision'),
       history_since = date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond'
     where table_definition_id = $1::int returning revision, (extract(epoch from history_since) * 1000)::bigint as history_since`,
    [table.table_definition_id],
  );
  Object.assign(table, rows[0]);
}

/** Begins every history that is missing; what is in use just now is left to the next round. */
export async function adoptTables(pool: pg.Pool, logger: Logger): Promise<void> {
  const { rows } = await pgSql(pool)(
    'select account_id, table_definition_id, branch_id, lineage_id from deployed_table where history_since is null order by table_definition_id',
  );
  for (const table of rows as Place[])
    await adoptTable(pool, table).catch((error: unknown) => {
      if (!passing.has(findSqlState(error) ?? '')) throw error;
      logger.info({ table_definition_id: table.table_definition_id }, 'a table is in use; its history begins later');
    });
}

// Somebody reads or deploys it, or has just taken it out of service.
const passing = new Set(['55P03', '40P01', '42P01', '3F000']);
