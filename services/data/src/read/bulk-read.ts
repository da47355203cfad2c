// Reads a whole table, or what changed in it after a mark, as CSV from one snapshot, rendered by PostgreSQL.
import type { CallContext } from '@almanac/service-kit/call-context';
import { pgSql } from '@almanac/service-kit/database';
import { ServiceError } from '@almanac/service-kit/errors';
import { readInstant } from '@almanac/service-kit/instants';
import { findSqlState } from '@almanac/service-kit/postgres-errors';
import type pg from 'pg';
import { catalogueSql, notDeployed } from '../catalogue/catalogue.ts';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { rowsSql } from '../query/as-of-sql.ts';
import { columnName, historyName, tableName } from '../query/identifiers.ts';
import { quoteLiteral } from '../query/literals.ts';
import { requireRightToWork } from '../row-rights.ts';
import { asOfSchema, refuseAsOf } from '../rows/as-of.ts';
import { typeOf, valueTypes } from '../values/value-types.ts';
import { copyOut } from './copy-out.ts';
import { cutByKey, expected, type KeyRange } from './key-ranges.ts';
import { readMark } from './mark.ts';
import { joinSnapshot, openSnapshot } from './snapshots.ts';

export type ReadRequest = {
  tableDefinitionId: number;
  pattern: string;
  highWaterMark: string;
  asOf: string;
  /** With the versions of rows in the place of their times. */
  forEditing: boolean;
};
export type ReadPart =
  | { start: { columns: string[] } }
  | { chunk: Buffer }
  | { end: { rows: number; next_high_water_mark: string } };

type Plan = { incremental: boolean; mark: string; asOf?: string; forEditing?: boolean };

/**
 * What it will be, the bytes, the totals. A full read has the rows that are live, or were at an instant; an incremental one all that
 * changed after its mark.
 */
export async function* bulkRead(
  ctx: DataContext,
  call: CallContext,
  request: ReadRequest,
  signal: AbortSignal,
): AsyncGenerator<ReadPart> {
  const plan = readRequest(request);
  await requireRightToWork(ctx, call, 'view', request.tableDefinitionId);
  const known = await ctx.catalogue.get(call.accountId, { id: request.tableDefinitionId });
  const nextMark = await readMark(pgSql(ctx.pools.rows));
  const { clients, table, texts } = await prepare(ctx, call, known, plan);
  const copied = copyOut(clients, texts, signal, 'commit');
  const columns = exportColumns(table, plan).map((column) => column.name);
  // Before anything is told: what has not begun gives no connection back, and a caller may stop at the first word.
  let part = await copied.next();
  try {
    yield { start: { columns } };
    for (; !part.done; part = await copied.next()) yield { chunk: part.value };
    // What changed after the instant is still to be exported.
    const next = plan.asOf !== undefined && plan.asOf < nextMark ? plan.asOf : nextMark;
    yield { end: { rows: part.value.rows, next_high_water_mark: next } };
  } finally {
    await copied.return({ rows: 0 });
  }
}

// The table as the snapshot has it, and how it is read: side by side where that is worth it.
async function prepare({ pools }: DataContext, call: CallContext, known: DeployedTable, plan: Plan) {
  const read = [tableName(known), ...(plan.asOf !== undefined && known.history_since ? [historyName(known)] : [])];
  const clients = [await open(pools.quiet, read)] as [pg.PoolClient, ...pg.PoolClient[]];
  try {
    const sql = pgSql(clients[0]);
    const { text, values } = catalogueSql.byId(call.accountId, known.table_definition_id);
    const table = (await sql(text, values)).rows[0] as DeployedTable | undefined;
    if (!table) throw notDeployed();
    await refuseAsOf(async (asked) => (await sql(asked.text, asked.values)).rows as never, table, plan.asOf);
    const ranges = cutByKey(await expected(sql, tableName(table), selectSql(table, plan)));
    const second = ranges.length > 1 ? await joinSnapshot(pools.quiet, clients[0], read) : undefined;
    if (second) clients.push(second);
    return { clients, table, texts: (second ? ranges : [{}]).map((range) => copySql(table, plan, range)) };
  } catch (error) {
    for (const client of clients) client.release(true);
    throw error;
  }
}

const isGone = new Set(['42P01', '3F000']);

async function open(pool: pg.Pool, tables: string[]): Promise<pg.PoolClient> {
  try {
    return await openSnapshot(pool, tables);
  } catch (error) {
    throw isGone.has(findSqlState(error) ?? '') ? notDeployed() : error;
  }
}

function readRequest({ pattern, highWaterMark, asOf, forEditing }: ReadRequest): Plan {
  if (forEditing && (pattern !== 'full' || asOf !== ''))
    throw new ServiceError('bad_request', 'for_editing goes with the pattern full and without as_of.');
  if (forEditing) return { incremental: false, mark: '', forEditing };
  if (pattern === 'full') return { incremental: false, mark: '', ...readAsOf(asOf) };
  if (pattern !== 'incremental') throw new ServiceError('bad_request', 'pattern must be full or incremental.');
  const mark = readInstant(highWaterMark);
  if (mark === undefined) throw new ServiceError('bad_request', 'high_water_mark must be an ISO 8601 date and time.');
  if (asOf !== '') throw new ServiceError('bad_request', 'as_of goes with the pattern full only.');
  return { incremental: true, mark: mark.toISOString() };
}

function readAsOf(text: string): Pick<Plan, 'asOf'> {
  if (text === '') return {};
  const read = asOfSchema.safeParse(text);
  if (!read.success) throw new ServiceError('bad_request', 'as_of must be an ISO 8601 date and time with its offset.');
  return { asOf: read.data };
}

type ExportColumn = { name: string; sql: string };

// Most rows were never changed: their second time is the first one's text again, which saves a sixth of the whole export.
const changedAt = `case when svc_updated_at = svc_created_at then created else ${valueTypes.timestamptz.textSql('svc_updated_at')} end`;

/** The columns of an export: system columns first, then the table's own in their order. */
export function exportColumns(
  table: Pick<DeployedTable, 'structure'>,
  { incremental, forEditing = false }: Pick<Plan, 'incremental' | 'forEditing'>,
  mark = "''",
): ExportColumn[] {
  const code = `case when svc_is_deleted then 'd' when svc_created_at > ${mark}::timestamptz then 'i' else 'u' end`;
  return [
    ...(incremental ? [{ name: 'svc_transaction_code', sql: code }] : []),
    { name: 'svc_sk', sql: 'svc_sk' },
    ...(forEditing
      ? [{ name: 'svc_version', sql: 'svc_version' }]
      : [
          { name: 'svc_created_at', sql: 'created' },
          { name: 'svc_updated_at', sql: changedAt },
        ]),
    ...table.structure.columns.map((column) => {
      const { family, textSql } = typeOf(column);
      const x = columnName(column);
      // COPY writes these itself as a reader expects them; going through text would only cost time.
      const asIs = family !== 'instant' && family !== 'boolean';
      return { name: column.name, sql: asIs ? x : textSql(x) };
    }),
  ];
}

/** The statement of an export, or of the part of it that has these keys. */
export const copySql = (table: DeployedTable, plan: Plan, range: KeyRange = {}): string =>
  `copy (${selectSql(table, plan, range)}) to stdout with (format csv, encoding 'UTF8')`;

// COPY takes no parameters: the mark stands in it as a literal that was parsed and rewritten.
function selectSql(table: DeployedTable, plan: Plan, { from, to }: KeyRange = {}): string {
  const { incremental, mark, asOf } = plan;
  const literal = quoteLiteral(mark);
  const columns = exportColumns(table, plan, literal).map((column) => column.sql);
  const conditions = [
    incremental ? `svc_updated_at > ${literal}::timestamptz` : 'not svc_is_deleted',
    ...(from === undefined ? [] : [`svc_sk >= ${from}`]),
    ...(to === undefined ? [] : [`svc_sk < ${to}`]),
  ];
  const created = valueTypes.timestamptz.textSql('svc_created_at');
  const rows = rowsSql(table, asOf === undefined ? undefined : `${quoteLiteral(asOf)}::timestamptz`);
  // Apart from the rows, and kept apart by OFFSET, the text is made once for all rows that came together (PostgreSQL's Memoize): a
  // fifth of the whole export.
  const once = `cross join lateral (select ${created} as created offset 0) c`;
  return `select ${columns.join(', ')} from ${rows} ${once} where ${conditions.join(' and ')} order by svc_sk`;
}
