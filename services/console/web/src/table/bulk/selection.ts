// Which rows a change of all matches is about, as the API names them. Pure.
import type { Filters } from '../../address/view.ts';

/** The most rows of one call (docs/how-to/change-many-rows.md). */
export const mostRows = 100_000;

/** The most rows that a search can name: the API's window of a grid. */
export const mostSearched = 1_000;

export type Selection = { filterModel: Filters } | { all: true };

/**
 * The rows of these filters. The API has no search in a selection, so the rows that one finds are
 * named by their ids.
 */
export function selectionOf(filters: Filters, found: readonly number[] | undefined): Selection {
  if (found)
    return { filterModel: { ...filters, svc_sk: { filterType: 'set', values: found.map((id) => String(id)) } } };
  return Object.keys(filters).length > 0 ? { filterModel: filters } : { all: true };
}

export type Obstacle = 'none' | 'too-many' | 'too-many-searched';

/** Why the rows can't be changed at once, if so. */
export function findObstacle(count: number, isSearched: boolean): Obstacle | undefined {
  if (count === 0) return 'none';
  if (isSearched && count > mostSearched) return 'too-many-searched';
  return count > mostRows ? 'too-many' : undefined;
}
