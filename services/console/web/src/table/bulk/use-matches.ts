// How many rows the search and the filters find, and which, where only their ids can name them.
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Filters } from '../../address/view.ts';
import { client } from '../../api/client.ts';
import type { Row, Table } from '../../api/queries.ts';
import { gridRequest } from '../../grid/rows/row-source.ts';
import { findObstacle, mostSearched, type Obstacle, type Selection, selectionOf } from './selection.ts';

/** What narrows the rows of the table. */
export type Narrowing = { q: string | undefined; filters: Filters };

export type Matches = { count: number; selection: Selection; obstacle: Obstacle | undefined };

const matchesQuery = (tableId: number, { q, filters }: Narrowing) =>
  queryOptions({
    queryKey: ['rows', tableId, 'matches', q, filters],
    queryFn: async ({ signal }): Promise<Matches> => {
      const end = q === undefined ? 1 : mostSearched;
      const body = {
        ...gridRequest({ tableId, q, asOf: undefined }, { filters, sort: [], start: 0, end }),
        include_lookups: false,
        columns: [],
      };
      const { rows, rowCount } = await client.post('/table_data/grid', { body, signal });
      const ids = q === undefined ? undefined : (rows as Row[]).map(({ svc_sk }) => svc_sk);
      const obstacle = findObstacle(rowCount, q !== undefined);
      return { count: rowCount, selection: selectionOf(filters, ids), obstacle };
    },
    // A count of before would be refused.
    gcTime: 0,
    staleTime: 0,
  });

/** The matches of now; read again when the query is refetched, never by the way. */
export function useMatches({ table_definition_id }: Table, narrowing: Narrowing) {
  return useQuery({ ...matchesQuery(table_definition_id, narrowing), refetchOnWindowFocus: false });
}
