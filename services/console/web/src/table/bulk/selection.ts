// Which rows a change of all matches is about, as the API names them. Pure.
import type { Filters } from '../../address/view.ts';

/** The most rows of one call (docs/how-to/change-many-rows.md). */
export const mostRows = 100_000;

/** What the API selects by: the search and the filters, or all rows. */
export type Selection = { filterModel?: Filters; q?: string } | { all: true };

export function selectionOf(filters: Filters, q: string | undefined): Selection {
  if (q !== undefined) return { filterModel: filters, q };
  return Object.keys(filters).length > 0 ? { filterModel: filters } : { all: true };
}

export type Obstacle = 'none' | 'too-many';

/** Why the rows can't be changed at once, if so. */
export function findObstacle(count: number): Obstacle | undefined {
  if (count === 0) return 'none';
  return count > mostRows ? 'too-many' : undefined;
}
