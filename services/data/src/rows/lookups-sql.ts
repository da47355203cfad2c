// Lookups: the value that a record shows for each foreign key, of the record it refers to. Pure.

import { columnName } from '../sql/identifiers.ts';
import { concatSql } from '../sql/statement.ts';
import type { Column, DeployedTable, Structure } from '../tables/table.ts';
import { getColumn, keyColumns } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import { rowsSql } from './as-of-sql.ts';

/**
 * One column of a foreign key; without a target, a table that the caller may not view, its value is
 * null.
 */
export type Lookup = {
  name: string;
  target?: { table: DeployedTable; pairs: { own: Column; key: Column }[]; shown: Column };
};

/**
 * The column that stands for a record where others refer to it: the one that the definition
 * chooses, else the first text that is no key, else the key.
 */
export function displayColumn(structure: Structure): Column | undefined {
  const { columns, lookup_display_column_id: chosen } = structure;
  return (
    columns.find((column) => column.column_definition_id === chosen) ??
    columns.find((column) => typeOf(column).family === 'text' && !isKey(column)) ??
    keyColumns(structure)[0]
  );
}

const isKey = (column: Column) => column.is_primary_key || column.foreign_key_table_id !== null;

/**
 * The lookups of a table, in the order of its columns. `targets`: the referenced tables that the
 * caller may view, by id.
 */
export function planLookups(
  table: Pick<DeployedTable, 'structure'>,
  targets: ReadonlyMap<number, DeployedTable>,
): Lookup[] {
  return table.structure.columns.flatMap((column) => findLookup(table, column, targets) ?? []);
}

/** The lookup of one column; undefined when it is part of no foreign key. */
export function findLookup(
  { structure }: Pick<DeployedTable, 'structure'>,
  column: Column,
  targets: ReadonlyMap<number, DeployedTable>,
): Lookup | undefined {
  const foreignKey = structure.foreign_keys.find(({ columns }) => columns.includes(column.lineage_id));
  if (!foreignKey) return undefined;
  const target = targets.get(foreignKey.target_table_id);
  const shown = target && displayColumn(target.structure);
  if (!target || !shown) return { name: column.name };
  const pairs = foreignKey.columns.map((lineage, i) => ({
    own: getColumn(structure, lineage),
    key: getColumn(target.structure, foreignKey.target_columns[i] as number),
  }));
  return { name: column.name, target: { table: target, pairs, shown } };
}

/** The columns that lookups show, by the names under which they show them. */
export const displayedColumns = (lookups: Lookup[]): Column[] =>
  lookups.flatMap(({ name, target }) => (target ? { ...target.shown, name } : []));

/**
 * The text of a JSON object, column to value, for the row `row` in scope; `at`: as of that instant.
 */
export function lookupsSql(lookups: Lookup[], row: string, at: string | undefined, bind: Bind): string {
  const parts = lookups.flatMap(({ name, target }, i) => [
    bind(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, 'text'),
    target ? `coalesce(${displayedSql(target, row, at)}, 'null')` : "'null'",
  ]);
  return concatSql(parts.length === 0 ? ["'{}'"] : [...parts, "'}'"]);
}

// The key of a live row is unique. As of an instant two rows may have it: while the writer of one
// waited for the end of the other (docs/adr/0006-row-history.md).
function displayedSql(
  { table, pairs, shown }: NonNullable<Lookup['target']>,
  row: string,
  at: string | undefined,
): string {
  const equal = pairs.map(({ own, key }) => `r.${columnName(key)} = ${row}.${columnName(own)}`);
  const value = typeOf(shown).jsonSql(`r.${columnName(shown)}`, table.structure.exact_numbers);
  return (
    `(select (${value})::text from (select * from ${rowsSql(table, at)}) r` +
    ` where r.svc_live and ${equal.join(' and ')}${at === undefined ? '' : ' order by r.svc_updated_at desc limit 1'})`
  );
}
