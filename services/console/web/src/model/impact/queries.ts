// What would feel a change of a table.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { all, type Column } from '../../api/queries.ts';

export type Usage = Schemas['GetTableUsageResult'];

/** Who used the rows of a table in the last days. */
export const usageQuery = (tableId: number) =>
  queryOptions({
    queryKey: ['rows', tableId, 'usage'],
    queryFn: ({ signal }) =>
      client.get('/table_data/usage', { params: { query: { table_definition_id: tableId } }, signal }),
  });

const openStates = 'status:in:draft|requested|changes_requested|approved|applying';

/** The change requests with changes of a table's rows that have not ended. */
export const openRequestsQuery = (tableId: number) =>
  queryOptions({
    queryKey: ['change_requests', 'open', tableId],
    queryFn: ({ signal }) => {
      const query = { table_definition_id: tableId, q: [openStates], sort: '-id' };
      return all(client.list('/change_requests', { params: { query }, signal }));
    },
  });

/** How many rows of a table have a value in a column. */
export const filledRowsQuery = (tableId: number, column: Pick<Column, 'name'>) =>
  queryOptions({
    queryKey: ['rows', tableId, 'filled', column.name],
    queryFn: async ({ signal }) => {
      const filterModel = { [column.name]: { filterType: 'text' as const, type: 'notBlank' as const } };
      const body = { table_definition_id: tableId, startRow: 0, endRow: 1, filterModel };
      return (await client.post('/table_data/grid', { body, signal })).rowCount;
    },
  });
