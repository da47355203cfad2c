// Reads a whole table, or its changes after a high-water mark, as CSV from one snapshot, rendered
// by PostgreSQL.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { isMissingTable } from '@almanac/service-kit/postgres/errors';
import { readInstant } from '@almanac/service-kit/text/instants';
import type pg from 'pg';
import { readHighWaterMark, refuseFutureMark } from '../postgres/high-water-mark.ts';
import type { Pools } from '../postgres/pools.ts';
import { asOfSchema, findAnswerability, refuseAsOf } from '../rows/as-of.ts';
import { historyName, tableName } from '../sql/identifiers.ts';
import { catalogueSql, notDeployed } from '../tables/catalogue.ts';
import type { TableAccess } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import { anyBeforeSql, changedRowsSql, deletedKeysSql } from './changes-sql.ts';
import { copyOut } from './copy-out.ts';
import { copySql, exportColumns, fullSql } from './export-sql.ts';
import { openSnapshot } from './snapshot.ts';

export type ReadRequest = {
  tableDefinitionId: number;
  pattern: string;
  highWaterMark: string;
  asOf: string;
  /** With the versions of rows instead of their times. */
  forEditing: boolean;
};
export type ReadPart =
  | { start: { columns: string[] } }
  | { chunk: Buffer }
  | { end: { rows: number; next_high_water_mark: string } };

/** With a mark: the changes after it. */
type Plan = { mark?: string; asOf?: string; forEditing?: boolean };

/**
 * Yields the columns, the bytes, the totals. A full read has the rows that are live, or were at an
 * instant. An incremental one has the net changes after its mark: one row for each primary key, the
 * deleted keys first. 400 when the history doesn't go back to the mark.
 */
export async function* bulkRead(
  { pools, catalogue, rights, usage }: TableAccess & { pools: Pools },
  call: CallContext,
  request: ReadRequest,
  signal: AbortSignal,
): AsyncGenerator<ReadPart> {
  const plan = readRequest(request);
  await requireRightToWork({ rights, catalogue }, call, 'view', request.tableDefinitionId);
  const known = await catalogue.get(call.accountId, { id: request.tableDefinitionId });
  if (plan.mark !== undefined) await refuseFutureMark(pgSql(pools.rows), plan.mark);
  const nextMark = await readHighWaterMark(pgSql(pools.rows));
  const { client, table, texts } = await prepare(pools.quiet, call, known, plan);
  const copied = copyOut(client, texts, signal);
  const columns = exportColumns(table, plan);
  // Before the first yield: a generator that has not begun runs no `finally`, and a caller may stop
  // after the first part.
  let part = await copied.next();
  try {
    usage.note(table, call, 'export');
    yield { start: { columns } };
    for (; !part.done; part = await copied.next()) yield { chunk: part.value };
    // The next export has the changes after the instant.
    const next = plan.asOf !== undefined && plan.asOf < nextMark ? plan.asOf : nextMark;
    yield { end: { rows: part.value.rows, next_high_water_mark: next } };
  } finally {
    await copied.return({ rows: 0 });
  }
}

// The table in the snapshot, and the statements that read it.
async function prepare(quiet: pg.Pool, call: CallContext, known: DeployedTable, plan: Plan) {
  const past = plan.asOf ?? plan.mark;
  const read = [tableName(known), ...(past === undefined ? [] : [historyName(known)])];
  const client = await open(quiet, read);
  try {
    const sql = pgSql(client);
    const { text, values } = catalogueSql.byId(call.accountId, known.table_definition_id);
    const table = (await sql(text, values)).rows[0] as DeployedTable | undefined;
    if (!table) throw notDeployed();
    await refuseAsOf(sql, table, plan.asOf);
    return { client, table, texts: (await planSelects(sql, table, plan)).map(copySql) };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function planSelects(sql: Sql, table: DeployedTable, { mark, ...plan }: Plan): Promise<string[]> {
  if (mark === undefined) return [fullSql(table, plan)];
  await requireHistory(sql, table, mark);
  const anyBefore = (await sql(anyBeforeSql(table, mark))).rows[0]?.found as boolean;
  return [deletedKeysSql(table, mark), changedRowsSql(table, mark, anyBefore)];
}

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

function readRequest({ pattern, highWaterMark, asOf, forEditing }: ReadRequest): Plan {
  if (forEditing && (pattern !== 'full' || asOf !== ''))
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'for_editing goes with the pattern full and without as_of.',
      field: 'for_editing',
    });
  if (forEditing) return { forEditing };
  if (pattern === 'full') return readAsOf(asOf);
  if (pattern !== 'incremental')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: 'pattern must be full or incremental.',
      field: 'pattern',
      params: { allowed: ['full', 'incremental'] },
    });
  const mark = readInstant(highWaterMark);
  if (mark === undefined)
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'high_water_mark must be an ISO 8601 date and time.',
      field: 'high_water_mark',
    });
  if (asOf !== '')
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'as_of goes with the pattern full only.',
      field: 'as_of',
    });
  return { mark: mark.toISOString() };
}

function readAsOf(text: string): Pick<Plan, 'asOf'> {
  if (text === '') return {};
  const read = asOfSchema.safeParse(text);
  if (!read.success)
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'as_of must be an ISO 8601 date and time with its offset.',
      field: 'as_of',
    });
  return { asOf: read.data };
}
