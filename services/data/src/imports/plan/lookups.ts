// Cells that name records of another table instead of giving their keys, and how the names are
// resolved.
import { displayColumn } from '../../rows/lookups-sql.ts';
import { type Column, type DeployedTable, getColumn } from '../../tables/table.ts';

export type Lookup = {
  /** The referenced table. */
  table: DeployedTable;
  /** Its key, and the column whose values the file has. */
  key: Column;
  shown: Column;
  /** The staged cell that keeps the key. */
  position: number;
};
/**
 * The lookup of a column, or why there is none. `wanted`: a column of the referenced table; empty:
 * its display column.
 */
export function planLookup(
  table: DeployedTable,
  column: Column,
  wanted: string,
  targets: ReadonlyMap<number, DeployedTable>,
): Omit<Lookup, 'position'> | string {
  const foreignKey = table.structure.foreign_keys.find(({ columns }) => columns.includes(column.lineage_id));
  const target = foreignKey && targets.get(foreignKey.target_table_id);
  if (!foreignKey || !target) return `${column.name} is no foreign key; nothing can be looked up for it.`;
  if (foreignKey.columns.length > 1)
    return `${column.name} is part of a foreign key of several columns; it can't be looked up.`;
  const shown =
    wanted === ''
      ? displayColumn(target.structure)
      : target.structure.columns.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (!shown) return `${column.name} can't be looked up by ${wanted}, which is not a column of ${target.name}.`;
  return { table: target, key: getColumn(target.structure, foreignKey.target_columns[0] as number), shown };
}
