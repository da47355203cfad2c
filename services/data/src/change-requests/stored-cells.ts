// The cells of operations as they are stored: JSON texts by the lineage of a column. A deployment
// may have changed the type of a column since, so a text is cast only where it is a value. Pure.
import { cellKey, columnName } from '../sql/identifiers.ts';
import type { Column } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';

// A cast to a physical text type would shorten the text.
const castType = (column: Column) => {
  const type = typeOf(column);
  return type.family === 'text' ? type.base : type.physical(column);
};

/** Whether the cells (`cells`, an expression) name the column. */
export const hasCellSql = (cells: string, column: Column): string => `${cells} ? ${cellKey(column)}`;

/** The value of a column in the cells; null when they don't name it, or it is none of its type. */
export function cellSql(cells: string, column: Column): string {
  const text = `(${cells} ->> ${cellKey(column)})`;
  const type = castType(column);
  if (typeOf(column).family === 'text') return text;
  return `case when pg_input_is_valid(${text}, '${type}') then ${text}::${type} end`;
}

/** The cells of a row, as they are stored, of those columns that `wanted` names. */
export function storedCellsSql(
  columns: readonly Column[],
  value: (column: Column) => string,
  wanted: (key: string) => string,
): string {
  if (columns.length === 0) return `'{}'::jsonb`;
  const cells = columns.map((column) => `(${cellKey(column)}, ${typeOf(column).textSql(value(column))})`);
  return `coalesce((select jsonb_object_agg(c.key, c.value) from (values ${cells.join(', ')}) c(key, value) where ${wanted('c.key')}), '{}')`;
}

/** The value of a column in the row `row`. */
export const ownCellSql = (row: string, column: Column): string => `${row}.${columnName(column)}`;
