// Reads a table, all its rows or those of criteria, or its changes after a high-water mark, as CSV
// from one snapshot, rendered by PostgreSQL.
import type { BulkReadStart } from '@almanac/protos/generated/almanac/data/v1/BulkReadStart.ts';
import type { ReadColumn } from '@almanac/protos/generated/almanac/data/v1/ReadColumn.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { isMissingTable } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { openReading, refuseApplied } from '../change-requests/visibility.ts';
import type { Targets } from '../pages/grid-plan.ts';
import { copyOut } from '../postgres/copy-out.ts';
import { readHighWaterMark, refuseFutureMark } from '../postgres/high-water-mark.ts';
import type { Pools } from '../postgres/pools.ts';
import { openSnapshot } from '../postgres/snapshot.ts';
import { findAnswerability, refuseAsOf } from '../rows/as-of.ts';
import type { Field } from '../rows/fields.ts';
import { historyName, tableName } from '../sql/identifiers.ts';
import { notDeployed, readEntry } from '../tables/catalogue.ts';
import {
  type ChangeRequestReading,
  lookupTables,
  requireReading,
  type TableAccess,
  visible,
} from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import { anyBeforeSql, changedRowsSql, deletedKeysSql } from './changes-sql.ts';
import { needTargets, planCriteria } from './criteria.ts';
import { copySql, criteriaSql, exportColumns, fullSql, systemColumns } from './export-sql.ts';
import { type Plan, type ReadRequest, readRequest } from './read-request.ts';

export type ReadPart =
  | { start: BulkReadStart }
  | { chunk: Buffer }
  | { end: { rows: number; next_high_water_mark: string } };

type Access = TableAccess & { pools: Pools };

/**
 * Yields the columns, the bytes, the totals. A full read has the rows that are live, or were at an
 * instant: all, or those of criteria in their order. An incremental one has the net changes after
 * its mark: one row for each primary key, the deleted keys first. 400 when the history doesn't go
 * back to the mark.
 */
export async function* bulkRead(
  access: Access,
  call: CallContext,
  request: ReadRequest,
  signal: AbortSignal,
): AsyncGenerator<ReadPart> {
  const { pools, usage } = access;
  const plan = readRequest(request);
  const opened = await openTables(access, call, request.tableDefinitionId, plan);
  if (plan.mark !== undefined) await refuseFutureMark(pgSql(pools.rows), plan.mark);
  const nextMark = await readHighWaterMark(pgSql(pools.rows));
  const { client, table, read } = await prepare(pools.quiet, call, opened, plan);
  const copied = copyOut(client, read.selects.map(copySql), signal);
  // Before the first yield: a generator that has not begun runs no `finally`, and a caller may stop
  // after the first part.
  let part = await copied.next();
  try {
    usage.note(table, call, 'export');
    const { columns, labels } = read;
    yield { start: { columns, labels, has_criteria: plan.criteria !== undefined } };
    for (; !part.done; part = await copied.next()) yield { chunk: part.value };
    // The next export has the changes after the instant.
    const next = plan.asOf !== undefined && plan.asOf < nextMark ? plan.asOf : nextMark;
    yield { end: { rows: part.value.rows, next_high_water_mark: next } };
  } finally {
    await copied.return({ rows: 0 });
  }
}

/** Throws what reading would be refused for, without reading rows: 400 to 404, 422. */
export async function checkBulkRead(access: Access, call: CallContext, request: ReadRequest): Promise<void> {
  const plan = readRequest(request);
  const { table, targets } = await openTables(access, call, request.tableDefinitionId, plan);
  for (const each of [table, ...targets.values()]) await refuseAsOf(pgSql(access.pools.rows), each, plan.asOf);
  if (plan.criteria) planCriteria(table, plan.criteria, targets, systemColumns(plan));
}

/** The table of a read, the referenced ones whose labels it takes, and how its rows are read. */
type Opened = { table: DeployedTable; targets: Targets; through?: ChangeRequestReading | undefined };

// The right is checked by the present answers of identity, and the entries that criteria are
// planned by are read again: the read may have been requested long ago.
async function openTables(access: Access, call: CallContext, id: number, plan: Plan): Promise<Opened> {
  const { catalogue, rights } = access;
  await requireRightToWork(access, call, 'view', id);
  const { criteria } = plan;
  if (!criteria) return { table: await catalogue.get(call.accountId, { id }), targets: new Map() };
  const table = await catalogue.read(call.accountId, { id });
  if (!table) throw notDeployed();
  const requested = criteria.change_request_id;
  const through =
    requested === undefined
      ? undefined
      : await requireReading(access, call, 'view', table, await openReading(access, call, requested));
  if (!needTargets(criteria)) return { table, targets: new Map(), through };
  const targets = await visible(rights, call, await catalogue.readAll(call.accountId, lookupTables(table)));
  return { table, targets, through };
}

// The table in the snapshot, and the statements that read it.
async function prepare(quiet: pg.Pool, call: CallContext, opened: Opened, plan: Plan) {
  const past = plan.asOf ?? plan.mark;
  const names = [opened.table, ...opened.targets.values()].flatMap((each) =>
    past === undefined ? [tableName(each)] : [tableName(each), historyName(each)],
  );
  const client = await open(quiet, [...new Set(names)]);
  try {
    const sql = pgSql(client);
    const table = await requireEntry(sql, opened.table);
    // Its references may be others now, whose tables are not among those opened.
    if (plan.criteria && table.revision !== opened.table.revision)
      throw new ServiceError('unavailable', 'The table is being deployed; try again.');
    const targets = await readTargets(sql, opened);
    for (const each of [table, ...targets.values()]) await refuseAsOf(sql, each, plan.asOf);
    if (opened.through) await refuseApplied(sql, call.accountId, opened.through.changeRequestId);
    return { client, table, read: await planRead(sql, { ...opened, table, targets }, plan) };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function requireEntry(sql: Sql, { account_id, table_definition_id }: DeployedTable): Promise<DeployedTable> {
  const table = await readEntry(sql, account_id, table_definition_id);
  if (!table) throw notDeployed();
  return table;
}

async function readTargets(sql: Sql, { targets }: Opened): Promise<Targets> {
  const read = new Map<number, DeployedTable>();
  for (const [id, target] of targets) read.set(id, await requireEntry(sql, target));
  return read;
}

type Read = { selects: string[]; columns: string[]; labels: ReadColumn[] };

async function planRead(sql: Sql, { table, targets, through }: Opened, plan: Plan): Promise<Read> {
  const { mark, asOf, criteria } = plan;
  if (mark !== undefined) {
    await requireHistory(sql, table, mark);
    const anyBefore = (await sql(anyBeforeSql(table, mark))).rows[0]?.found as boolean;
    const selects = [deletedKeysSql(table, mark), changedRowsSql(table, mark, anyBefore)];
    return { selects, columns: exportColumns(table, plan), labels: [] };
  }
  if (!criteria) return { selects: [fullSql(table, plan)], columns: exportColumns(table, plan), labels: [] };
  const planned = planCriteria(table, criteria, targets, systemColumns(plan));
  const columns = planned.columns.map(({ name }) => name);
  return { selects: [criteriaSql(table, planned, { asOf, through })], columns, labels: labelColumns(planned.columns) };
}

// The types of what labels show, for files whose cells have types.
const labelColumns = (fields: readonly Field[]): ReadColumn[] =>
  fields.flatMap(({ name, label }) => {
    if (!label) return [];
    const { data_type = 'text', length, scale } = label.shown ?? {};
    return { name, data_type, ...(length !== null && { length }), ...(scale !== null && { scale }) };
  });

// Without the versions that retention has deleted, the keys that rows had before are unknown.
async function requireHistory(sql: Sql, table: DeployedTable, mark: string): Promise<void> {
  const found = await findAnswerability(sql, table, mark);
  if (found?.lost)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `What changed in ${table.name} is known since ${found.since.toISOString()} only; make a full export and go on from its mark.`,
      field: 'high_water_mark',
      params: { minimum: found.since.toISOString() },
    });
}

async function open(pool: pg.Pool, tables: string[]): Promise<pg.PoolClient> {
  try {
    return await openSnapshot(pool, tables);
  } catch (error) {
    throw isMissingTable(error) ? notDeployed() : error;
  }
}
