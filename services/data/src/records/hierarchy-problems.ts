// Says in the words of the table what a hierarchy refused: the triggers tell which rows lie on the
// cycle (`deployments/schema/hierarchy-triggers.ts`).
import { isCheckViolation } from '@almanac/service-kit/postgres/errors';
import { bareHierarchyName } from '../sql/identifiers.ts';
import { cycleText, hierarchiesOf, hierarchyProblem, namesOf } from '../tables/hierarchies.ts';
import type { DeployedTable } from '../tables/table.ts';

/**
 * The rows of a cycle, in their order: ids, and keys as people read them. `sentence`: what is told
 * of each.
 */
export type RefusedCycle = { sentence: string; rows: { id: string; key: string }[] };

/** The key of a row, as the triggers write it. */
export const keyText = (cells: (string | null | undefined)[]): string => [...cells.join(', ')].slice(0, 60).join('');

/** What a hierarchy of the table has refused; undefined when it was something else. */
export function findRefusedCycle(table: DeployedTable, error: unknown): RefusedCycle | undefined {
  if (!isCheckViolation(error)) return undefined;
  const { constraint, detail } = error as { constraint?: string; detail?: string };
  const hierarchy = hierarchiesOf(table).find(
    ({ columns }) => bareHierarchyName(table, columns[0] as number) === constraint,
  );
  if (!hierarchy) return undefined;
  const rows = (JSON.parse(detail ?? '[]') as [string, string][]).map(([id, key]) => ({ id, key }));
  const way = cycleText(rows.map(({ key }) => key));
  return { sentence: `${hierarchyProblem(namesOf(table, hierarchy))}: ${way}`, rows };
}
