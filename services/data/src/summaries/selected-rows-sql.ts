// What statements that summarize rows share: the selected rows, and the values by which they are
// counted. Pure.

import { filterAt, type RowSelection } from '../pages/filter.ts';
import { whereSql } from '../pages/page-sql.ts';
import { rowsSql } from '../rows/as-of-sql.ts';
import type { Field } from '../rows/fields.ts';
import { fieldAt, withLabels } from '../rows/labels.ts';
import type { Reading } from '../rows/reading.ts';
import { Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';

/**
 * The start of a statement: its values so far, the rows with these fields, their condition, and the
 * instant.
 */
export function startWithRows(
  table: DeployedTable,
  selection: RowSelection,
  wanted: readonly Field[],
  { asOf }: Reading,
) {
  const values = new Values();
  const at = asOf === undefined ? undefined : values.bind(asOf, 'timestamptz');
  const where = whereSql({ ...selection, filter: filterAt(selection.filter, at) }, values.bind);
  return { values, at, where, ...withLabels(rowsSql(table, at), wanted, at) };
}

/** The value of a row by which it is counted: an empty text is no value, as in a set filter. */
export function countedSql({ sql, type }: Field): string {
  return type.family === 'text' ? `nullif(${sql}, '')` : sql;
}

/** The JSON text of an expression of a field's type, as records show it; `null` for none. */
export function jsonTextSql({ type, column, label }: Field, x: string, exactNumbers?: boolean): string {
  // The numbers of system columns fit into a double.
  const isSystem = column === undefined && label === undefined;
  return `coalesce((${type.jsonSql(x, exactNumbers && !isSystem)})::text, 'null')`;
}

/** The JSON text of the label of a counted value, an expression. */
export function labelTextSql(label: Field, x: string, at: string | undefined, exactNumbers?: boolean): string {
  const { sql } = fieldAt(label, at);
  const own = label.label?.columns[0];
  const value = own === undefined ? sql : `(select ${sql} from (select ${x} as ${own}) own)`;
  return `(select ${jsonTextSql(label, 'shown', exactNumbers)} from (select ${value} as shown offset 0) label)`;
}
