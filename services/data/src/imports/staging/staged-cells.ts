// The cells of a staged row as text expressions, and whether one breaks the rules of its column.
// Pure.

import { columnName, stagedColumn } from '../../sql/identifiers.ts';
import { valueChecks } from '../../tables/column-rules.ts';
import { isRequired } from '../../tables/table.ts';
import { anyBrokenSql, type Bind } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import type { LoadPlan, Source } from '../plan/load-plan.ts';

/**
 * The cell as the file gives it, in the form that the type's rules read; null where the file has no
 * value.
 */
export const givenSql = (source: Source, alias: string): string =>
  source.reading.sql(`${alias}.${stagedColumn(source.cell)}`);

/**
 * What will be stored, as text: the cell itself, or the key of the record that it names (null when
 * it names none).
 */
export const cellSql = (source: Source, alias: string): string =>
  source.lookup ? `${alias}.${stagedColumn(source.lookup.position)}` : givenSql(source, alias);

/**
 * The cell as a value of the column's type. Only for rows that passed the rules; of a row that
 * deletes, only the key did.
 */
export function typedSql(plan: LoadPlan, source: Source, alias: string): string {
  const { base } = typeOf(source.column);
  const cell = cellSql(source, alias);
  if (base === 'text') return cell;
  const typed = `(${cell})::${base}`;
  if (plan.codePosition === undefined || plan.key.includes(source)) return typed;
  return `case when not ${isDeletionSql(plan, alias)} then ${typed} end`;
}

/** The transaction code of the row. */
export const codeSql = (plan: LoadPlan, alias: string): string =>
  `lower(${alias}.${stagedColumn(plan.codePosition as number)})`;

/** True for rows that only say which row to delete. */
export function isDeletionSql(plan: LoadPlan, alias: string): string {
  return plan.codePosition === undefined ? 'false' : `coalesce(${codeSql(plan, alias)} = 'd', false)`;
}

/**
 * Whether the cell has a value that its map rejects as unknown; undefined: the map takes all
 * values.
 */
export const unknownSql = ({ unknown, position, cell }: Source, alias: string): string | undefined =>
  unknown?.sql(`${alias}.${stagedColumn(position)}`, `${alias}.${stagedColumn(cell)}`);

/** Whether the cell breaks a rule of its column or its map, or names no record, or several. */
export function brokenCellSql(source: Source, alias: string, bind: Bind): string {
  const cell = cellSql(source, alias);
  const none = isRequired(source.column) ? 'true' : 'false';
  const nameless = source.lookup ? ` when ${cell} is null then true` : '';
  const unknown = unknownSql(source, alias);
  return `case ${unknown === undefined ? '' : `when ${unknown} then true `}when ${givenSql(source, alias)} is null then ${none}${nameless} else ${anyBrokenSql(valueChecks(source.column), cell, bind)} end`;
}

/** Whether a live row and a staged one have the same key. */
export function keyEquals(plan: LoadPlan, live: string, staged: string): string {
  return plan.key
    .map((source) => `${live}.${columnName(source.column)} = ${typedSql(plan, source, staged)}`)
    .join(' and ');
}
