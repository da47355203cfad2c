// The columns of an export, and the statement of a full one, which PostgreSQL renders as CSV. Pure.

import { filterAt } from '../pages/filter.ts';
import { orderSql } from '../pages/filter-sql.ts';
import { whereSql } from '../pages/page-sql.ts';
import { rowsSql } from '../rows/as-of-sql.ts';
import { withLabels } from '../rows/labels.ts';
import { type Reading, relationOf } from '../rows/reading.ts';
import { columnName } from '../sql/identifiers.ts';
import { bindLiteral, quoteLiteral } from '../sql/literals.ts';
import type { DeployedTable } from '../tables/table.ts';
import { typeOf, type ValueType, valueTypes } from '../values/value-types.ts';
import type { CriteriaPlan } from './criteria.ts';

type Structured = Pick<DeployedTable, 'structure'>;

/** The change that an incremental export gives of each row, besides its values. */
export type Change = { code: string; isDeleted: boolean };

/** `forEditing`: with the versions of rows instead of their times. */
type ExportForm = { forEditing?: boolean; mark?: string };

const times = ['svc_sk', 'svc_created_at', 'svc_updated_at'];

/** The columns of an export: system columns first, then the table's own in their order. */
export function exportColumns({ structure }: Structured, { forEditing, mark }: ExportForm): string[] {
  const system =
    mark === undefined ? systemColumns({ forEditing }) : ['svc_transaction_code', ...times, 'svc_is_deleted'];
  return [...system, ...structure.columns.map(({ name }) => name)];
}

const versions = ['svc_sk', 'svc_version'];

/** The system columns of a full export. */
export const systemColumns = ({ forEditing }: Pick<ExportForm, 'forEditing'>): string[] =>
  forEditing ? versions : times;

// Most rows were never changed: the text of their second time is that of the first, which saves a
// sixth of the whole export.
const changedAt = `case when svc_updated_at = svc_created_at then created else ${valueTypes.timestamptz.textSql('svc_updated_at')} end`;

const ownSql = ({ structure }: Structured): string[] =>
  structure.columns.map((column) => cellSql(typeOf(column), columnName(column)));

// COPY itself writes the others in the expected form; a cast to text would only cost time.
const cellSql = ({ family, textSql }: ValueType, x: string): string =>
  family === 'instant' || family === 'boolean' ? textSql(x) : x;

/**
 * Selects those columns of `rows`, a relation with the columns of the table. A `change` is
 * constant, or an expression of its columns.
 */
export function exportRowsSql(table: Structured, rows: string, change?: Change): string {
  const columns = [
    ...(change ? [change.code] : []),
    'svc_sk',
    'created',
    changedAt,
    ...(change ? [quoteLiteral(String(change.isDeleted))] : []),
    ...ownSql(table),
  ];
  // In a subquery, which OFFSET keeps apart, PostgreSQL makes the text once for all rows with the
  // same time (Memoize): it saves a fifth of the whole export.
  const once = `cross join lateral (select ${valueTypes.timestamptz.textSql('svc_created_at')} as created offset 0) c`;
  return `select ${columns.join(', ')} from ${rows} ${once}`;
}

/**
 * The rows that are live, or were at an instant. COPY takes no parameters: the instant is a
 * literal, parsed and rewritten before.
 */
export function fullSql(
  table: DeployedTable,
  { asOf, forEditing }: Pick<ExportForm, 'forEditing'> & { asOf?: string },
): string {
  const rows = rowsSql(table, asOf === undefined ? undefined : `${quoteLiteral(asOf)}::timestamptz`);
  const select = forEditing
    ? `select ${[...versions, ...ownSql(table)].join(', ')} from ${rows}`
    : exportRowsSql(table, rows);
  return `${select} where not svc_is_deleted order by svc_sk`;
}

/**
 * The rows of criteria, in their order and columns. Of rows without an index in this order
 * PostgreSQL sorts more than its memory holds on disk.
 */
export function criteriaSql(
  table: DeployedTable,
  { columns, sorts, ...selection }: CriteriaPlan,
  reading: Pick<Reading, 'asOf' | 'through'>,
): string {
  const at = reading.asOf === undefined ? undefined : bindLiteral(reading.asOf, 'timestamptz');
  const where = whereSql({ ...selection, filter: filterAt(selection.filter, at) }, bindLiteral);
  const wanted = [...columns, ...sorts.map(({ field }) => field)];
  const { from, fields } = withLabels(relationOf(table, reading, at, bindLiteral), wanted, at);
  const cells = fields.slice(0, columns.length).map(({ type, sql }) => cellSql(type, sql));
  const ordered = sorts.map((sort, i) => ({ ...sort, field: fields[columns.length + i] ?? sort.field }));
  const order = orderSql({ sorts: ordered, includeDeleted: selection.includeDeleted });
  return `select ${cells.join(', ')} from ${from}${where} order by ${order}`;
}

/** The COPY of a query. */
export const copySql = (select: string): string => `copy (${select}) to stdout with (format csv, encoding 'UTF8')`;
