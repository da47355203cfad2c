// Takes deployed tables out of service. A removed table keeps its rows for seven days under another
// name; a removed branch is dropped with everything in it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type pg from 'pg';
import { requireResident } from '../clusters/account-placement.ts';
import { lockBranch } from '../postgres/advisory-locks.ts';
import { withBriefLocks } from '../postgres/brief-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import { referrersOf } from '../records/constraint-sql.ts';
import {
  historyName,
  retiredColumnName,
  retiredHistoryName,
  retiredTableName,
  schemaName,
  tableName,
  viewSchema,
} from '../sql/identifiers.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { isDroppedSql } from './dropped-tables-sql.ts';
import { deleteEntries, planRetirement, retire } from './retirement.ts';

/** Time-outs for removals and restorations, which wait for the locks of other sessions. */
export const setTimeouts =
  "select set_config('lock_timeout', '10s', true), set_config('statement_timeout', '120s', true)";

/** False when it isn't deployed. 422 while other tables refer to it, naming them. */
export function dropTable(
  { pools, sqlViews }: { pools: Pools; sqlViews: SqlViews },
  call: CallContext,
  tableDefinitionId: number,
): Promise<boolean> {
  return withTransaction(pools.work, async (sql) => {
    await sql(setTimeouts);
    await requireResident(sql, call);
    const { text, values } = catalogueSql.byId(call.accountId, tableDefinitionId);
    const found = (await sql(text, values)).rows[0] as DeployedTable | undefined;
    if (!found) return false;
    await lockBranch(sql, found.branch_id);
    const branch = await listBranch(sql, call.accountId, found.branch_id);
    const table = branch.find((each) => each.table_definition_id === tableDefinitionId);
    if (!table) return false;
    const referring = referrersOf(table, branch).filter(({ from }) => from.table_definition_id !== tableDefinitionId);
    if (referring.length > 0)
      throw validationFailed(
        [...new Set(referring.map(({ from }) => from.name))].map(
          (name): Problem => ({
            code: 'still_referenced',
            message: `${table.name} is still referred to by ${name}.`,
            params: { table: name },
          }),
        ),
      );
    const byLineage = new Map(branch.map((each) => [each.lineage_id, each]));
    const retirement = planRetirement(table, (lineageId) => byLineage.get(lineageId) as DeployedTable);
    await sqlViews.replace(sql, [table], async () => {
      for (const drop of retirement.dropForeignKeys) await sql(drop);
      await retire(sql, retirement);
      return [];
    });
    return true;
  });
}

/** The deployed tables of a branch. */
export async function listBranch(sql: Sql, accountId: number, branchId: number): Promise<DeployedTable[]> {
  const { text, values } = catalogueSql.ofBranch(accountId, branchId);
  return (await sql(text, values)).rows as DeployedTable[];
}

async function deleteBulkWrites(sql: Sql, ids: number[]): Promise<void> {
  await sql(
    `delete from bulk_write b where table_definition_id = any($1::int[]) and ${isDroppedSql('b.table_definition_id')}`,
    [ids],
  );
}

/**
 * Drops all tables of a branch with their rows, and what is proposed for them; answers how many
 * tables there were.
 */
export function dropBranch({ pools }: { pools: Pools }, call: CallContext, branchId: number): Promise<number> {
  return withTransaction(pools.work, async (sql) => {
    await sql(setTimeouts);
    await requireResident(sql, call);
    await lockBranch(sql, branchId);
    await sql('delete from change_request where account_id = $1::int and branch_id = $2::int', [
      call.accountId,
      branchId,
    ]);
    const branch = await listBranch(sql, call.accountId, branchId);
    const { rows } = await sql(
      'select true from retired_table where account_id = $1::int and branch_id = $2::int limit 1',
      [call.accountId, branchId],
    );
    if (branch.length === 0 && rows.length === 0) return 0;
    // In the order in which a reader of a view locks them.
    for (const schema of [viewSchema(branchId), schemaName(branchId)])
      await sql(`drop schema if exists ${schema} cascade`);
    await deleteEntries(
      sql,
      branch.map((table) => table.table_definition_id),
    );
    const retired = await sql(
      'delete from retired_table where account_id = $1::int and branch_id = $2::int returning table_definition_id as id',
      [call.accountId, branchId],
    );
    const ids = [...branch.map((table) => table.table_definition_id), ...retired.rows.map(({ id }) => id)];
    await deleteBulkWrites(sql, ids);
    await sql('delete from table_removal where table_definition_id = any($1::int[])', [ids]);
    await sql('delete from retired_column where account_id = $1::int and branch_id = $2::int', [
      call.accountId,
      branchId,
    ]);
    return branch.length;
  });
}

/** How long a table that was taken out of service can be restored. */
export const keptDays = 7;

/**
 * Drops tables and columns retired more than seven days ago. One at a time, so that no lock is held
 * long; what is locked is left to the next round.
 */
export async function sweepRetired(pool: pg.Pool): Promise<void> {
  const sql = pgSql(pool);
  const due = `retired_at < now() - interval '${keptDays} days'`;
  const tables = await sql(
    `select id, branch_id, table_definition_id from retired_table where ${due} order by id limit 1000`,
  );
  for (const { id, branch_id, table_definition_id } of tables.rows)
    await withBriefLocks(pool, '2s', async (own) => {
      for (const name of [retiredTableName(id), retiredHistoryName(id)])
        await own(`drop table if exists ${schemaName(branch_id)}.${name}`);
      await own('delete from retired_table where id = $1::int', [id]);
      await deleteBulkWrites(own, [table_definition_id]);
    });
  const columns = await sql(
    `select id, branch_id, lineage_id, column_lineage_id, revision from retired_column where ${due} order by id limit 1000`,
  );
  for (const { id, branch_id, lineage_id, column_lineage_id, revision } of columns.rows)
    await withBriefLocks(pool, '2s', async (own) => {
      const column = retiredColumnName(column_lineage_id, revision);
      for (const name of [tableName({ branch_id, lineage_id }), historyName({ branch_id, lineage_id })])
        await own(`alter table if exists ${name} drop column if exists ${column}`);
      await own('delete from retired_column where id = $1::int', [id]);
    });
}
