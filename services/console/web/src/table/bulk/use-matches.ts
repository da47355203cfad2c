// How many rows the search and the filters find.
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Filters } from '../../address/view.ts';
import { client } from '../../api/client.ts';
import type { Table } from '../../api/queries.ts';
import { gridRequest } from '../../grid/rows/row-source.ts';
import { findObstacle, type Obstacle, type Selection, selectionOf } from './selection.ts';

/** What narrows the rows of the table. */
export type Narrowing = { q: string | undefined; filters: Filters };

export type Matches = { count: number; selection: Selection; obstacle: Obstacle | undefined };

const matchesQuery = (tableId: number, { q, filters }: Narrowing) =>
  queryOptions({
    queryKey: ['rows', tableId, 'matches', q, filters],
    queryFn: async ({ signal }): Promise<Matches> => {
      const body = {
        ...gridRequest({ tableId, q, asOf: undefined }, { filters, sort: [], start: 0, end: 1 }),
        include_lookups: false,
        columns: [],
      };
      const { rowCount: count } = await client.post('/table_data/grid', { body, signal });
      return { count, selection: selectionOf(filters, q), obstacle: findObstacle(count) };
    },
    // A count of before would be refused.
    gcTime: 0,
    // Nor is it read again for an event: an act whose answer was lost is repeated as it was.
    staleTime: 'static',
  });

/** The matches of now; read again when the query is refetched, never by the way. */
export function useMatches({ table_definition_id }: Table, narrowing: Narrowing) {
  return useQuery(matchesQuery(table_definition_id, narrowing));
}
