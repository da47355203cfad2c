// Explains in the words of the table what a hierarchy refused; the triggers name the rows of the
// cycle (`deployments/schema/hierarchy-triggers.ts`).
import { isCheckViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { bareHierarchyName } from '../sql/identifiers.ts';
import { cycleText, hierarchiesOf, hierarchyProblem, namesOf } from '../tables/hierarchies.ts';
import { type DeployedTable, getColumn } from '../tables/table.ts';

/**
 * The rows of a cycle, in their order, by their ids and readable keys. `problem`: that of each.
 */
export type RefusedCycle = { problem: Problem; rows: { id: string; key: string }[] };

/** The readable key of a row, as the triggers write it. */
export const keyText = (cells: (string | null | undefined)[]): string => [...cells.join(', ')].slice(0, 60).join('');

/** The cycle that a hierarchy of the table refused; undefined for another error. */
export function findRefusedCycle(table: DeployedTable, error: unknown): RefusedCycle | undefined {
  if (!isCheckViolation(error)) return undefined;
  const { constraint, detail } = error as { constraint?: string; detail?: string };
  const hierarchy = hierarchiesOf(table).find(
    ({ columns }) => bareHierarchyName(table, columns[0] as number) === constraint,
  );
  if (!hierarchy) return undefined;
  const rows = (JSON.parse(detail ?? '[]') as [string, string][]).map(([id, key]) => ({ id, key }));
  const cycle = cycleText(rows.map(({ key }) => key));
  const column = getColumn(table.structure, hierarchy.columns[0] as number).name;
  const message = `${hierarchyProblem(namesOf(table, hierarchy))}: ${cycle}`;
  return { problem: { code: 'cycle', message, column, params: { keys: rows.map(({ key }) => key) } }, rows };
}
