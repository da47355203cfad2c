// Resolves foreign keys: columns that name the same target refer, in order, to its whole primary
// key. More columns than the key has make several foreign keys (two columns that both name
// Currencies are two references).
import { type Column, type ForeignKey, keyColumns, type WantedTable } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';

export type Resolved = { foreignKeys: ForeignKey[]; problems: string[] };

/**
 * Resolves the foreign keys of a table. `findTarget`: the table as it will be deployed; undefined
 * when it won't be.
 */
export function resolveForeignKeys(
  columns: Column[],
  findTarget: (tableId: number) => Pick<WantedTable, 'lineage_id' | 'name' | 'structure'> | undefined,
): Resolved {
  const foreignKeys: ForeignKey[] = [];
  const problems: string[] = [];
  const targets = Map.groupBy(
    columns.filter((column) => column.foreign_key_table_id !== null),
    (column) => column.foreign_key_table_id as number,
  );
  for (const [tableId, referring] of targets) {
    const names = referring.map((column) => column.name).join(', ');
    const target = findTarget(tableId);
    if (!target) {
      problems.push(`${names} refers to a table definition (${tableId}) that is not deployed on this branch.`);
      continue;
    }
    const key = keyColumns(target.structure);
    if (key.length === 0) problems.push(`${names} refers to ${target.name}, which has no primary key.`);
    else if (referring.length % key.length !== 0)
      problems.push(`${names} must be as many columns as the primary key of ${target.name} has (${key.length}).`);
    else
      for (let i = 0; i < referring.length; i += key.length) {
        const part = referring.slice(i, i + key.length);
        const wrong = part.find((column, n) => typeOf(column).family !== typeOf(key[n] as Column).family);
        if (wrong) {
          const counterpart = key[part.indexOf(wrong)] as Column;
          problems.push(
            `${wrong.name} is ${wrong.data_type}, but ${counterpart.name} of ${target.name} is ${counterpart.data_type}.`,
          );
        } else if (part.some((column) => column.is_hierarchy !== part[0]?.is_hierarchy))
          problems.push(
            `${part.map((column) => column.name).join(', ')} are one reference: all of them are a hierarchy, or none.`,
          );
        else
          foreignKeys.push({
            columns: part.map((column) => column.lineage_id),
            target_table_id: tableId,
            target_lineage_id: target.lineage_id,
            target_columns: key.map((column) => column.lineage_id),
            ...(part[0]?.is_hierarchy && { is_hierarchy: true }),
          });
      }
  }
  return { foreignKeys, problems };
}
