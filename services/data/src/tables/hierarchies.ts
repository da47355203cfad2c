// Hierarchies: references of a table to itself in which no row may lead back to itself. Pure.
import { columnName } from '../sql/identifiers.ts';
import { type ForeignKey, getColumn, keyColumns, type Shape } from './table.ts';

/** The references of a table that are hierarchies. */
export const hierarchiesOf = ({ structure }: Pick<Shape, 'structure'>): ForeignKey[] =>
  structure.foreign_keys.filter((foreignKey) => foreignKey.is_hierarchy);
/** Whether row `c` of a table refers to its row `p`. */
export const refersSql = ({ columns, target_columns }: ForeignKey): string =>
  columns
    .map((lineage_id, i) => {
      const key = { lineage_id: target_columns[i] as number };
      return `p.${columnName(key)} = c.${columnName({ lineage_id })}`;
    })
    .join(' and ');
/** The columns of a hierarchy, for a message. */
export const namesOf = ({ structure }: Pick<Shape, 'structure'>, { columns }: ForeignKey): string =>
  columns.map((lineage) => getColumn(structure, lineage).name).join(', ');
/** The key of a row as people read it. */
export const keyTextSql = ({ structure }: Pick<Shape, 'structure'>, row: string) =>
  `left(concat_ws(', ', ${keyColumns(structure)
    .map((column) => `${row}.${columnName(column)}`)
    .join(', ')}), 60)`;
export const shownRows = 10;
/** The rows of a cycle, in their order, as people read them. */
export function cycleText(names: string[]): string {
  const [first] = names;
  return names.length > shownRows ? `${names.slice(0, shownRows).join(' > ')} > …` : [...names, first].join(' > ');
}
/** The sentence for a reference that a hierarchy refuses. */
export const hierarchyProblem = (columns: string): string => `${columns} can't lead back to the record itself`;
