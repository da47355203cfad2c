// The columns of an export and the statement of a full one, rendered by PostgreSQL as CSV. Pure.

import { rowsSql } from '../rows/as-of-sql.ts';
import { columnName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import type { DeployedTable } from '../tables/table.ts';
import { typeOf, valueTypes } from '../values/value-types.ts';

type Structured = Pick<DeployedTable, 'structure'>;

/** What an incremental export says of each row beside its values. */
export type Change = { code: string; isDeleted: boolean };

/** `forEditing`: with the versions of rows in the place of their times. */
type How = { forEditing?: boolean; mark?: string };

const times = ['svc_sk', 'svc_created_at', 'svc_updated_at'];

/** The columns of an export: system columns first, then the table's own in their order. */
export function exportColumns({ structure }: Structured, { forEditing, mark }: How): string[] {
  const system = mark === undefined ? times : ['svc_transaction_code', ...times, 'svc_is_deleted'];
  return [...(forEditing ? versions : system), ...structure.columns.map(({ name }) => name)];
}

const versions = ['svc_sk', 'svc_version'];

// Most rows were never changed: their second time is the first one's text again, which saves a sixth of the whole export.
const changedAt = `case when svc_updated_at = svc_created_at then created else ${valueTypes.timestamptz.textSql('svc_updated_at')} end`;

function ownSql({ structure }: Structured): string[] {
  return structure.columns.map((column) => {
    const { family, textSql } = typeOf(column);
    const x = columnName(column);
    // COPY writes these itself as a reader expects them; going through text would only cost time.
    return family === 'instant' || family === 'boolean' ? textSql(x) : x;
  });
}

/** Selects those columns of `rows`, a relation with the columns of the table. A `change` is the same for all, or made of their columns. */
export function exportRowsSql(table: Structured, rows: string, change?: Change): string {
  const columns = [
    ...(change ? [change.code] : []),
    'svc_sk',
    'created',
    changedAt,
    ...(change ? [quoteLiteral(String(change.isDeleted))] : []),
    ...ownSql(table),
  ];
  // Apart from the rows, and kept apart by OFFSET, the text is made once for all rows that came together (PostgreSQL's Memoize): a
  // fifth of the whole export.
  const once = `cross join lateral (select ${valueTypes.timestamptz.textSql('svc_created_at')} as created offset 0) c`;
  return `select ${columns.join(', ')} from ${rows} ${once}`;
}

/** The rows that are live, or were at an instant. COPY takes no parameters: the instant is a literal that was parsed and rewritten. */
export function fullSql(
  table: DeployedTable,
  { asOf, forEditing }: Pick<How, 'forEditing'> & { asOf?: string },
): string {
  const rows = rowsSql(table, asOf === undefined ? undefined : `${quoteLiteral(asOf)}::timestamptz`);
  const select = forEditing
    ? `select ${[...versions, ...ownSql(table)].join(', ')} from ${rows}`
    : exportRowsSql(table, rows);
  return `${select} where not svc_is_deleted order by svc_sk`;
}

/** A statement that sends what `select` gives. */
export const copySql = (select: string): string => `copy (${select}) to stdout with (format csv, encoding 'UTF8')`;
