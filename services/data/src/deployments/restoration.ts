// Restores a table that was taken out of service a few days ago: the same rows and history, under
// its own names again.
import type { RowPolicy__Output } from '@almanac/protos/generated/almanac/data/v1/RowPolicy.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { isForeignKeyViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requireResident } from '../clusters/account-placement.ts';
import { lockBranch } from '../postgres/advisory-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import {
  bareHistoryName,
  bareTableName,
  retiredHistoryName,
  retiredTableName,
  schemaName,
} from '../sql/identifiers.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { readRowChanges } from '../tables/row-policy.ts';
import {
  type Column,
  type DeployedTable,
  type ForeignKey,
  getColumn,
  keyColumns,
  type WantedTable,
} from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import { writeEntries } from './deployment.ts';
import { keptDays, listBranch, setTimeouts } from './removal.ts';
import { objectsOf } from './schema/objects.ts';

type Retired = { id: number; entry: DeployedTable };

/**
 * False when there is nothing to restore. 422 when another table has its place, or a table it
 * refers to has changed. `policy`: how its rows change from then on; as before without one.
 */
export function restoreTable(
  { pools, sqlViews }: { pools: Pools; sqlViews: SqlViews },
  call: CallContext,
  tableDefinitionId: number,
  policy?: RowPolicy__Output,
): Promise<boolean> {
  const own = policy && {
    row_changes: readRowChanges(policy.row_changes),
    machine_imports: policy.machine_imports,
    row_policy_revision: policy.revision,
  };
  return withTransaction(pools.work, async (sql) => {
    await sql(setTimeouts);
    await requireResident(sql, call);
    const found = await findRetired(sql, call.accountId, tableDefinitionId);
    if (found) await lockBranch(sql, found.entry.branch_id);
    // Another call may have restored it before this one had the lock.
    const retired = found && (await findRetired(sql, call.accountId, tableDefinitionId));
    if (!retired) return isInService(sql, call.accountId, tableDefinitionId);
    const branch = await listBranch(sql, call.accountId, retired.entry.branch_id);
    const problems = findProblems(retired.entry, branch);
    if (problems.length > 0) throw validationFailed(problems);
    await sqlViews.replace(sql, [], async () => {
      await restore(sql, retired, branch, own);
      return [retired.entry];
    });
    return true;
  });
}

async function findRetired(sql: Sql, accountId: number, tableDefinitionId: number): Promise<Retired | undefined> {
  const { rows } = await sql(
    `select id, entry from retired_table where account_id = $1::int and table_definition_id = $2::int
       and retired_at > now() - interval '${keptDays} days' order by id desc limit 1`,
    [accountId, tableDefinitionId],
  );
  return rows[0] as Retired | undefined;
}

async function isInService(sql: Sql, accountId: number, tableDefinitionId: number): Promise<boolean> {
  const { rows } = await sql(
    'select true from deployed_table where account_id = $1::int and table_definition_id = $2::int',
    [accountId, tableDefinitionId],
  );
  return rows.length > 0;
}

function findProblems(table: DeployedTable, branch: DeployedTable[]): Problem[] {
  const problems: Problem[] = [];
  if (
    branch.some(
      (each) => each.lineage_id === table.lineage_id || each.table_definition_id === table.table_definition_id,
    )
  )
    problems.push({ code: 'taken', message: `${table.name} is in service again, as another table.` });
  else if (branch.some((each) => each.key === table.key))
    problems.push({ code: 'taken', message: `Another table with the key ${table.key} is in service.` });
  for (const foreignKey of table.structure.foreign_keys) {
    const target = [...branch, table].find((each) => each.lineage_id === foreignKey.target_lineage_id);
    const name = getColumn(table.structure, foreignKey.columns[0] as number).name;
    const refuse = (message: string) => problems.push({ code: 'invalid_reference', message, column: name });
    if (!target) refuse(`${name} refers to a table that is no longer in service.`);
    else if (!hasSameKey(table, foreignKey, target))
      refuse(`${name} refers to ${target.name}, whose primary key has changed.`);
  }
  return problems;
}

function hasSameKey(table: DeployedTable, foreignKey: ForeignKey, target: DeployedTable): boolean {
  const key = keyColumns(target.structure);
  const types = (columns: Column[]) => columns.map((column) => typeOf(column).base).join();
  const referring = foreignKey.columns.map((lineage) => getColumn(table.structure, lineage));
  return (
    key.map((column) => column.lineage_id).join() === foreignKey.target_columns.join() &&
    types(key) === types(referring)
  );
}

async function restore(
  sql: Sql,
  { id, entry }: Retired,
  branch: DeployedTable[],
  policy: Partial<WantedTable> | undefined,
): Promise<void> {
  const schema = schemaName(entry.branch_id);
  await sql(`alter table ${schema}.${retiredTableName(id)} rename to ${bareTableName(entry)}`);
  await sql(`alter table ${schema}.${retiredHistoryName(id)} rename to ${bareHistoryName(entry)}`);
  const byLineage = new Map([...branch, entry].map((each) => [each.lineage_id, each]));
  const objects = objectsOf(entry, (lineageId) => byLineage.get(lineageId) as DeployedTable);
  for (const { create } of objects) await makeObject(sql, entry, create);
  await writeEntries(sql, entry.account_id, [{ ...entry, ...policy }]);
  await sql(
    'update deployed_table set history_since = to_timestamp($2::float8 / 1000) where table_definition_id = $1::int',
    [entry.table_definition_id, entry.history_since],
  );
  await sql('delete from retired_table where id = $1::int', [id]);
}

async function makeObject(sql: Sql, { name }: DeployedTable, create: string): Promise<void> {
  try {
    await sql(create);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw validationFailed({
      code: 'blocked',
      message: `Rows of ${name} refer to rows that no longer exist.`,
    });
  }
}
