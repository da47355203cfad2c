// The columns of an export, and the statement of a full one, which PostgreSQL renders as CSV. Pure.

import { rowsSql } from '../rows/as-of-sql.ts';
import { columnName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import type { DeployedTable } from '../tables/table.ts';
import { typeOf, valueTypes } from '../values/value-types.ts';

type Structured = Pick<DeployedTable, 'structure'>;

/** The change that an incremental export gives of each row, besides its values. */
export type Change = { code: string; isDeleted: boolean };

/** `forEditing`: with the versions of rows instead of their times. */
type ExportForm = { forEditing?: boolean; mark?: string };

const times = ['svc_sk', 'svc_created_at', 'svc_updated_at'];

/** The columns of an export: system columns first, then the table's own in their order. */
export function exportColumns({ structure }: Structured, { forEditing, mark }: ExportForm): string[] {
  const system = mark === undefined ? times : ['svc_transaction_code', ...times, 'svc_is_deleted'];
  return [...(forEditing ? versions : system), ...structure.columns.map(({ name }) => name)];
}

const versions = ['svc_sk', 'svc_version'];

// Most rows were never changed: the text of their second time is that of the first, which saves a
// sixth of the whole export.
const changedAt = `case when svc_updated_at = svc_created_at then created else ${valueTypes.timestamptz.textSql('svc_updated_at')} end`;

function ownSql({ structure }: Structured): string[] {
  return structure.columns.map((column) => {
    const { family, textSql } = typeOf(column);
    const x = columnName(column);
    // COPY itself writes the others in the expected form; a cast to text would only cost time.
    return family === 'instant' || family === 'boolean' ? textSql(x) : x;
  });
}

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

/** The COPY of a query. */
export const copySql = (select: string): string => `copy (${select}) to stdout with (format csv, encoding 'UTF8')`;
