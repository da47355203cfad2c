// Plans and applies deployments. Planning only reads. Applying reads the same under locks that keep
// writers out, then runs the DDL and writes the catalogue, all in one transaction: nothing is ever
// half deployed, and an applied deployment is found by its id.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, retryTransaction, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import {
  hasSqlState,
  isConstraintViolation,
  isDataException,
  isLockTimeout,
  isMissingTable,
} from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import type { Change } from '@almanac/service-kit/text/difference';
import type pg from 'pg';
import { requireResident } from '../clusters/account-placement.ts';
import type { RowsAnnouncer } from '../events/rows-announcer.ts';
import { lockBranch } from '../postgres/advisory-locks.ts';
import type { Pools } from '../postgres/pools.ts';
import { originOf } from '../rows/origin.ts';
import { tableName } from '../sql/identifiers.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable, WantedTable } from '../tables/table.ts';
import {
  type BranchChange,
  describeReferring,
  planBranch,
  type Removal,
  referringTo,
  type TableChange,
} from './branch-change.ts';
import {
  type Copying,
  type FirstRows,
  findVisible,
  keepFirstRows,
  lockOriginals,
  type OriginalsAccess,
  planFirstRows,
  prepareCopying,
  requireVisible,
} from './first-rows.ts';
import { planRetirement, type Retirement, retire } from './retirement.ts';
import { type Pair, type RowCheck, rowChecksSql } from './schema/checks.ts';
import { changeTable, inOrder, type TableChange as PhysicalChange } from './schema/ddl.ts';
import { cycleBlocker, cyclesSql, proveHierarchiesSql } from './schema/hierarchy-checks.ts';
import { largeTablesSql } from './schema/large-tables.ts';
import { setDeployerSql } from './schema/rewritten-rows.ts';
import type { AttributeChange, ColumnDiff } from './table-diff.ts';
import type { UnwantedTable } from './wanted-tables.ts';

export type CountedMessage = { message: string; rows: number };
/** What metadata shows of one table. */
export type TableDiff = {
  table_definition_id: number;
  key: string;
  name: string;
  change: Change;
  attributes: AttributeChange[];
  columns: ColumnDiff[];
  statements: string[];
  warnings: CountedMessage[];
  blockers: CountedMessage[];
};
export type DeploymentPlan = { diffs: TableDiff[] };

type Read = (statement: { text: string; values: unknown[] }) => Promise<pg.QueryResultRow[]>;
const reader =
  (sql: Sql): Read =>
  async ({ text, values }) =>
    (await sql(text, values)).rows;

type Request = { branchId: number; tables: WantedTable[]; removals: UnwantedTable[] };

/** What a deployment would do and lose, and what blocks it; changes nothing. */
export async function planDeployment(
  access: OriginalsAccess,
  call: CallContext,
  request: Request,
): Promise<DeploymentPlan> {
  const visible = await findVisible(access, call, request.tables);
  return withTransaction(
    access.pools.work,
    async (sql) => {
      await sql("select set_config('statement_timeout', '120s', true)");
      return (await plan(reader(sql), call.accountId, request, { visible })).shown;
    },
    { isolation: 'repeatable read' },
  );
}

/**
 * What is done to a wanted table, and because of it to tables that refer to it and aren't wanted.
 */
type PlannedTable = PhysicalChange & { referring: (PhysicalChange & { pair: Pair })[] };

type Planned = {
  change: BranchChange;
  /** The changes of the wanted tables, in their order; none while one of them has problems. */
  tables: PlannedTable[];
  /** The tables in service that are to be removed. */
  retirements: Retirement[];
  firstRows: FirstRows;
  shown: DeploymentPlan;
  revision: number;
};

async function plan(
  read: Read,
  accountId: number,
  { branchId, tables, removals }: Request,
  copying: Pick<Copying, 'visible'> & Partial<Copying>,
): Promise<Planned> {
  const branch = (await read(catalogueSql.ofBranch(accountId, branchId))) as DeployedTable[];
  const elsewhere = await read({
    text: 'select table_definition_id as id from deployed_table where table_definition_id = any($1::int[]) and (account_id <> $2::int or branch_id <> $3::int)',
    values: [[...tables, ...removals].map((table) => table.table_definition_id), accountId, branchId],
  });
  const foreignBranch = await read({
    text: 'select true from deployed_table where branch_id = $1::int and account_id <> $2::int limit 1',
    values: [branchId, accountId],
  });
  if (foreignBranch.length > 0) throw new ServiceError('not_found', { code: 'not_found', message: 'Branch not found' });
  const catalogued = { branch, elsewhere: new Set(elsewhere.map((row) => row.id)) };
  const change = planBranch(branchId, tables, catalogued, removals);
  const [row] = await read({ text: "select nextval('deployed_revision') as revision", values: [] });
  const revision = row?.revision as number;
  const sound = change.wanted.every((table) => table.problems.length === 0);
  const large = new Set((await read(largeTablesSql(branch))).map(({ lineage_id }) => lineage_id as number));
  const planned = sound ? changesOf(change, revision, large) : [];
  const firstRows = await planFirstRows(read, accountId, change, copying);
  for (const [i, { pair }] of change.wanted.entries()) {
    const copy = firstRows.tables.get(pair.wanted.lineage_id);
    if (!copy) continue;
    planned[i]?.statements.columns.push(copy.statement);
    planned[i]?.statements.foreignKeys.push(...proveHierarchiesSql(pair.wanted));
  }
  // One after the other: a connection runs one statement at a time.
  const diffs: TableDiff[] = [];
  for (const [i, table] of change.wanted.entries()) diffs.push(await showTable(read, firstRows, table, planned[i]));
  const retirements = change.removals.flatMap(({ old }) => (old ? [retirementOf(change, old)] : []));
  for (const removal of change.removals) diffs.push(await showRemoval(read, removal, retirements));
  return { change, tables: planned, retirements, firstRows, shown: { diffs }, revision };
}

const retirementOf = (change: BranchChange, table: DeployedTable) =>
  planRetirement(table, (lineageId) => change.pairOf(lineageId).old as DeployedTable);

function changesOf(change: BranchChange, revision: number, large: ReadonlySet<number>): PlannedTable[] {
  const oldTable = (lineageId: number) => change.pairOf(lineageId).old as DeployedTable;
  const newTable = (lineageId: number) => change.pairOf(lineageId).wanted;
  const changeOf = (pair: Pair) =>
    changeTable(pair, { revision, oldTable, newTable, isLarge: large.has(pair.wanted.lineage_id) });
  return change.wanted.map(({ pair }) => ({
    ...changeOf(pair),
    referring: referringTo(pair.wanted, change).map((each) => ({ ...changeOf(each), pair: each })),
  }));
}

const statementsOf = (planned: PlannedTable[]) =>
  planned.flatMap(({ statements, referring }) => [statements, ...referring.map((each) => each.statements)]);

async function showTable(
  read: Read,
  firstRows: FirstRows,
  { pair, diff, problems }: TableChange,
  planned: PlannedTable | undefined,
): Promise<TableDiff> {
  const { wanted } = pair;
  const statements = statementsOf(planned ? [planned] : []);
  const counted: Record<'warning' | 'blocker', CountedMessage[]> = { warning: [], blocker: [] };
  if (planned)
    for (const { kind, message, rows } of await countRows(read, firstRows, firstRows.pairOf(wanted.lineage_id)))
      counted[kind].push({ message, rows });
  // These tables are not part of the deployment, so a warning about them can't be accepted: it
  // blocks.
  for (const { pair: referring } of planned?.referring ?? [])
    for (const { message, rows } of await countRows(read, firstRows, referring))
      counted.blocker.push({ message: describeReferring(referring.wanted, message), rows });
  if (firstRows.withoutOriginal.has(wanted.lineage_id))
    counted.warning.push({ message: 'The table whose rows it was to begin with is not in service any more.', rows: 0 });
  const refusal = firstRows.refused.get(wanted.lineage_id);
  if (refusal) counted.blocker.push({ message: refusal, rows: 0 });
  return {
    table_definition_id: wanted.table_definition_id,
    key: wanted.key,
    name: wanted.name,
    change: diff.change,
    attributes: diff.attributes,
    columns: diff.columns,
    statements: [...inOrder(statements), ...statements.flatMap(({ deferred }) => deferred)],
    warnings: counted.warning,
    blockers: [...problems.map((message) => ({ message, rows: 0 })), ...counted.blocker],
  };
}

async function showRemoval(
  read: Read,
  { unwanted, old, diff, problems }: Removal,
  retirements: Retirement[],
): Promise<TableDiff> {
  const retirement = retirements.find(({ table }) => table === old);
  const [counted] = old
    ? await read({ text: `select count(*) as rows from ${tableName(old)} where not svc_is_deleted`, values: [] })
    : [];
  const message = old
    ? 'The table is taken out of service with its rows; they can be restored for seven days.'
    : 'The table is not in service any more.';
  return {
    table_definition_id: unwanted.table_definition_id,
    key: old?.key ?? unwanted.key,
    name: old?.name ?? unwanted.name,
    change: diff.change,
    attributes: diff.attributes,
    columns: diff.columns,
    statements: retirement ? [...retirement.dropForeignKeys, ...retirement.drops] : [],
    warnings: [{ message, rows: Number(counted?.rows ?? 0) }],
    blockers: problems.map((problem) => ({ message: problem, rows: 0 })),
  };
}

/** The warnings and blockers of a table's rows, with their numbers. */
async function countRows(
  read: Read,
  { pairOf }: FirstRows,
  pair: Pair,
): Promise<(Pick<RowCheck, 'kind'> & CountedMessage)[]> {
  const checked = rowChecksSql(pair, pairOf);
  const [row] = checked ? await read(checked.statement) : [];
  const counted = (checked?.checks ?? [])
    .map(({ kind, message }, i) => ({ kind, message, rows: Number(row?.rows[i] ?? 0) }))
    .filter(({ rows }) => rows > 0);
  for (const { columns, statement } of cyclesSql(pair, pairOf)) {
    const [cycle] = await read(statement);
    const rows = cycle?.rows as number;
    if (rows > 0) counted.push({ kind: 'blocker', message: cycleBlocker(columns, cycle?.names, rows), rows });
  }
  return counted;
}

/** What applying a deployment works with. */
type DeploymentParts = OriginalsAccess & {
  sqlViews: SqlViews;
  indexing: { scheduleSoon(): void };
  announcer: RowsAnnouncer;
  logger: Logger;
};

const attempts = 6;

// First rows are checked before they are copied: these failures mean that rows or tables changed in
// between.
const isCopyConflict = (error: unknown) =>
  isConstraintViolation(error) ||
  isDataException(error) ||
  isMissingTable(error) ||
  hasSqlState(error, 'undefined_column');

/**
 * Makes the deployed tables equal to the wanted ones, and takes those out of service that are to be
 * removed. A repeated deployment id answers the first plan. Blockers are 422 with every reason. The
 * locks are requested a few times, so that a long reader never makes others wait long; then the
 * deployment fails, with nothing changed.
 */
export async function applyDeployment(
  parts: DeploymentParts,
  call: CallContext,
  request: Request & { deploymentId: string },
): Promise<DeploymentPlan> {
  const { pools, sqlViews, indexing, announcer, logger } = parts;
  let copying: Copying | undefined;
  const isCopyFailure = (error: unknown) => copying !== undefined && isCopyConflict(error);
  const attempt = async () => {
    copying = await prepareCopying(parts, call, request.tables);
    return withTransaction(pools.work, (sql) => apply(sqlViews, sql, call, request, copying));
  };
  try {
    const done = await retryTransaction(attempt, {
      attempts,
      isRetryable: (error) => isLockTimeout(error) || isCopyFailure(error),
      pauseMs: (failed) => 100 + Math.random() * 200 * failed,
      onRetry: (failed) =>
        logger.info(
          { deployment_id: request.deploymentId, attempt: failed },
          'a table is in use; the deployment is retried',
        ),
    });
    if (done.hasDeferredWork) indexing.scheduleSoon();
    for (const table of request.tables) announcer.touch(table);
    return done.plan;
  } catch (error) {
    if (!isCopyFailure(error)) throw error;
    throw validationFailed({
      code: 'blocked',
      message: 'Rows changed while they were copied, or break rules of the copy; try again.',
    });
  }
}

async function apply(
  sqlViews: SqlViews,
  sql: Sql,
  call: CallContext,
  { deploymentId, ...request }: Request & { deploymentId: string },
  copying: Copying | undefined,
): Promise<{ plan: DeploymentPlan; hasDeferredWork: boolean }> {
  await sql(
    "select set_config('lock_timeout', '2s', true), set_config('statement_timeout', '600s', true), set_config('idle_in_transaction_session_timeout', '0', true)",
  );
  const { accountId } = call;
  const { actor, requestId } = originOf(call, 'deployment');
  await sql(setDeployerSql, [actor, requestId]);
  await requireResident(sql, { accountId });
  await lockBranch(sql, request.branchId);
  const { rows: applied } = await sql(
    'select plan from applied_deployment where account_id = $1::int and deployment_id = $2',
    [accountId, deploymentId],
  );
  if (applied[0]) return { plan: applied[0].plan as DeploymentPlan, hasDeferredWork: false };

  await lockTables(sql, accountId, request);
  await lockOriginals(sql, copying);
  const planned = await plan(reader(sql), accountId, request, copying ?? { visible: new Set() });
  requireVisible(planned.firstRows);
  requireNoBlockers(planned.shown);
  const pairs = planned.change.wanted.map((table) => table.pair);
  const wanted = pairs.map((pair) => pair.wanted);
  const { retirements } = planned;
  const before = [...pairs.flatMap(({ old }) => old ?? []), ...retirements.map(({ table }) => table)];
  await sqlViews.replace(sql, before, async () => {
    for (const statement of retirements.flatMap(({ dropForeignKeys }) => dropForeignKeys)) await sql(statement);
    for (const statement of inOrder(statementsOf(planned.tables))) await sql(statement);
    for (const retirement of retirements) await retire(sql, retirement);
    await keepRetiredColumns(sql, accountId, planned);
    // The columns of touched tables, and so their views, stay as they are.
    const touched = planned.change.touched.map((pair) => pair.wanted);
    await writeEntries(sql, accountId, [...wanted, ...touched]);
    return wanted;
  });
  await keepFirstRows(sql, accountId, planned.firstRows, copying);
  await sql('insert into applied_deployment (account_id, deployment_id, plan) values ($1::int, $2, $3::jsonb)', [
    accountId,
    deploymentId,
    JSON.stringify(planned.shown),
  ]);
  return {
    plan: planned.shown,
    hasDeferredWork: statementsOf(planned.tables).some(({ deferred }) => deferred.length > 0),
  };
}

// Writers hold ROW EXCLUSIVE until their transaction ends, from before their statement reads the
// catalogue; this lock waits for them and keeps others out, while readers go on. So a row is
// written wholly under one revision or the next.
async function lockTables(sql: Sql, accountId: number, { branchId, tables, removals }: Request): Promise<void> {
  const branch = (await reader(sql)(catalogueSql.ofBranch(accountId, branchId))) as DeployedTable[];
  const ids = new Set([
    ...tables.flatMap((table) => [table.table_definition_id, ...targetsOf(table)]),
    ...removals.map((table) => table.table_definition_id),
  ]);
  for (const table of branch)
    if (ids.has(table.table_definition_id)) for (const target of targetsOf(table)) ids.add(target);
  const locked = branch.filter(
    (table) =>
      ids.has(table.table_definition_id) ||
      table.structure.foreign_keys.some((foreignKey) => ids.has(foreignKey.target_table_id)),
  );
  if (locked.length === 0) return;
  const names = locked.toSorted((a, b) => a.lineage_id - b.lineage_id).map(tableName);
  await sql(`lock table ${names.join(', ')} in share row exclusive mode`);
}

const targetsOf = (table: WantedTable): number[] =>
  table.structure.columns.flatMap((column) => column.foreign_key_table_id ?? []);

function requireNoBlockers({ diffs }: DeploymentPlan): void {
  const problems = diffs.flatMap((diff) =>
    diff.blockers.map(
      ({ message, rows }): Problem => ({
        code: 'blocked',
        message: `${diff.name}: ${message}${rows > 0 ? ` (${rows} ${rows === 1 ? 'row' : 'rows'})` : ''}`,
        params: { table: diff.name, rows },
      }),
    ),
  );
  if (problems.length > 0) throw validationFailed(problems);
}

async function keepRetiredColumns(sql: Sql, accountId: number, { change, tables, revision }: Planned): Promise<void> {
  for (const [i, { pair }] of change.wanted.entries())
    for (const column of tables[i]?.retired ?? [])
      await sql(
        `insert into retired_column (account_id, branch_id, lineage_id, column_lineage_id, revision)
         values ($1::int, $2::int, $3::int, $4::int, $5::bigint)`,
        [accountId, pair.wanted.branch_id, pair.wanted.lineage_id, column.lineage_id, revision],
      );
}

/** Writes the catalogue entries of tables that are in service from now on. */
export async function writeEntries(sql: Sql, accountId: number, tables: WantedTable[]): Promise<void> {
  await sql(
    `insert into deployed_table (table_definition_id, account_id, branch_id, domain_id, lineage_id, uuid, key, name, load_type,
       version, structure, row_changes, machine_imports, row_policy_revision, history_since)
     select table_definition_id, $1::int, branch_id, domain_id, lineage_id, uuid, key, name, load_type, version, structure,
       coalesce(row_changes, 'direct'), coalesce(machine_imports, true), coalesce(row_policy_revision, 0),
       coalesce((select removed_at from table_removal r where r.table_definition_id = entry.table_definition_id),
         '0001-01-01T00:00:00Z')
     from jsonb_to_recordset($2::jsonb) as entry (table_definition_id int, branch_id int, domain_id int, lineage_id int, uuid uuid,
       key text, name text, load_type text, version int, structure jsonb, row_changes text, machine_imports boolean, row_policy_revision bigint)
     on conflict (table_definition_id) do update set domain_id = excluded.domain_id, key = excluded.key, name = excluded.name,
       load_type = excluded.load_type, version = excluded.version, structure = excluded.structure,
       revision = nextval('deployed_revision'), deployed_at = now()
       where deployed_table.account_id = excluded.account_id`,
    [accountId, JSON.stringify(tables)],
  );
  await sql(
    `insert into announced_rows (table_definition_id, account_id, until)
     select id, $1::int, date_trunc('milliseconds', clock_timestamp()) - interval '1 millisecond' from unnest($2::int[]) as id
     on conflict do nothing`,
    [accountId, tables.map((table) => table.table_definition_id)],
  );
}

/** What a deployment did; undefined when it was not applied. */
export async function findAppliedDeployment(
  { pools }: { pools: Pools },
  call: CallContext,
  deploymentId: string,
): Promise<DeploymentPlan | undefined> {
  const { rows } = await pgSql(pools.rows)(
    'select plan from applied_deployment where account_id = $1::int and deployment_id = $2',
    [call.accountId, deploymentId],
  );
  return rows[0]?.plan as DeploymentPlan | undefined;
}

/**
 * Deletes plans of deployments applied more than 30 days ago: metadata has asked for the outcome by
 * then.
 */
export async function sweepApplied(sql: Sql): Promise<void> {
  await sql(`delete from applied_deployment where applied_at < now() - interval '30 days'`);
}
