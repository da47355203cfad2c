// What the pages of change requests read. Answers about operations have keys of their own: they are
// read again when operations have changed, not with each step of the request.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';
import { all } from '../api/queries.ts';

export type ChangeRequest = Schemas['ChangeRequestDetails'];
export type Operation = Schemas['ChangeOperation'];
export type Comment = Schemas['ChangeRequestComment'];
export type Status = ChangeRequest['status'];

/** The states in which nothing happens to a request any more. */
export const ended: readonly Status[] = ['applied', 'rejected', 'cancelled'];

export const operationsKey = (id: number) => ['change_operations', id] as const;

export const requestKey = (id: number) => ['change_requests', 'one', id] as const;

/** How many operations of the table there are of each kind and decision. */
export const operationCountsQuery = (id: number, tableId: number) =>
  queryOptions({
    queryKey: [...operationsKey(id), 'counts', tableId],
    queryFn: async ({ signal }) => {
      const query = { table_definition_id: tableId, startRow: 0, endRow: 1 };
      const { counts } = await client.get('/change_requests/{id}/operations', {
        params: { path: { id }, query },
        signal,
      });
      return counts;
    },
  });

/** All comments, oldest first: those on operations too. */
export const commentsQuery = (id: number) =>
  queryOptions({
    queryKey: ['change_comments', id],
    queryFn: ({ signal }) => all(client.list('/change_requests/{id}/comments', { params: { path: { id } }, signal })),
    refetchInterval: 60_000,
  });

/** How many rows the tables of a request have, by id; about as many where they are not counted. */
export const rowCountsQuery = (branchId: number, tableIds: readonly number[]) =>
  queryOptions({
    queryKey: ['tables', branchId, 'row counts', tableIds],
    queryFn: async ({ signal }) => {
      const query = { branch_id: branchId, include: 'stats' as const, q: [`id:in:${tableIds.join('|')}`] };
      const tables = await all(client.list('/deployed_table_definitions', { params: { query }, signal }));
      return new Map(tables.map(({ id, stats }) => [id, stats?.row_count ?? stats?.row_count_estimate ?? undefined]));
    },
    staleTime: 5 * 60_000,
  });
