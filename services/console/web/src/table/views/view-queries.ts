// The saved views of a table as the console reads them. All keys begin with `views`.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import { all } from '../../api/queries.ts';

export type View = Schemas['View'];
export type ViewDetails = Schemas['ViewDetails'];

const minute = 60_000;

/** Those that the person sees, by name. */
export const viewsQuery = (tableId: number) =>
  queryOptions({
    queryKey: ['views', tableId],
    queryFn: ({ signal }) =>
      all(client.list('/views', { params: { query: { table_definition_id: tableId, sort: 'name' } }, signal })),
    staleTime: minute,
  });

/** A view with its state. */
export const viewQuery = (id: number) =>
  queryOptions({
    queryKey: ['views', 'one', id],
    queryFn: ({ signal }) => client.get('/views/{id}', { params: { path: { id } }, signal }),
    staleTime: minute,
  });
