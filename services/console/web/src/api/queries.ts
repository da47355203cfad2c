// What the console reads, and how long each answer is good for. The keys begin with the resource,
// so that a change to it can drop all answers about it.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';

export type Table = Schemas['DeployedTableDefinition'];
export type Column = Schemas['DeployedColumn'];
export type Branch = Schemas['Branch'];
export type Definition = Schemas['TableDefinition'];
export type Row = Schemas['TableRecord'] & Record<string, unknown>;

const minute = 60_000;

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => client.get('/me', { signal }),
  staleTime: 5 * minute,
});

export const branchesQuery = queryOptions({
  queryKey: ['branches'],
  queryFn: ({ signal }) => all(client.list('/branches', { params: { query: { sort: 'name' } }, signal })),
  staleTime: minute,
});

/**
 * The deployed tables of a branch with their columns and the views that they open with, by name.
 * Those of the default branch are found before the branches are.
 */
export const tablesQuery = (branch: number | 'default') =>
  queryOptions({
    queryKey: ['tables', branch],
    queryFn: async ({ signal, client: queries }) => {
      const query = { branch_id: branch, include: 'opening_view', sort: 'name' } as const;
      const tables = await all(client.list('/deployed_table_definitions', { params: { query }, signal }));
      const [first] = tables;
      if (first && branch === 'default') queries.setQueryData(['tables', first.branch_id], tables);
      return tables;
    },
    staleTime: minute,
  });

export const inboxQuery = queryOptions({
  queryKey: ['inbox'],
  queryFn: ({ signal }) => client.get('/inbox', { signal }),
  staleTime: minute / 2,
  refetchInterval: minute,
});

/** Everybody of the account: histories and requests name people by their ids. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) => all(client.list('/people', { signal })),
  staleTime: 5 * minute,
});

/** The definitions of a branch by name, with what the person may do and how rows change. */
export const definitionsQuery = (branchId: number) =>
  queryOptions({
    queryKey: ['tables', branchId, 'can'],
    queryFn: ({ signal }) => {
      const query = { branch_id: branchId, include: 'can' as const, sort: 'name' };
      return all(client.list('/table_definitions', { params: { query }, signal }));
    },
    staleTime: minute,
  });

/** The definition of a table, with what the person may do to it and how its rows change. */
export const tableAccessQuery = (id: number) =>
  queryOptions({
    queryKey: ['tables', 'access', id],
    queryFn: ({ signal }) =>
      client.get('/table_definitions/{id}', {
        params: { path: { id: String(id) }, query: { include: 'can' } },
        signal,
      }),
    staleTime: minute,
  });

export type RowPlace = { tableId: number; id: number };

export const rowQuery = ({ tableId, id }: RowPlace, asOf: string | undefined) =>
  queryOptions({
    queryKey: ['rows', tableId, id, asOf],
    queryFn: async ({ signal }) => {
      const query = { table_definition_id: tableId, include_lookups: 'true' as const, as_of: asOf };
      return (await client.get('/table_data/{id}', { params: { path: { id }, query }, signal })) as Row;
    },
  });

export const historyQuery = ({ tableId, id }: RowPlace) =>
  queryOptions({
    queryKey: ['rows', tableId, id, 'history'],
    queryFn: ({ signal }) =>
      client.get('/table_data/{id}/history', {
        params: { path: { id }, query: { table_definition_id: tableId, per_page: 100 } },
        signal,
      }),
  });

export const referencesQuery = ({ tableId, id }: RowPlace) =>
  queryOptions({
    queryKey: ['rows', tableId, id, 'references'],
    queryFn: ({ signal }) =>
      client.get('/table_data/{id}/references', {
        params: { path: { id }, query: { table_definition_id: tableId } },
        signal,
      }),
  });

export const changeRequestQuery = (id: number) =>
  queryOptions({
    queryKey: ['change_requests', 'one', id],
    queryFn: ({ signal }) => client.get('/change_requests/{id}', { params: { path: { id } }, signal }),
  });

/** The items of all pages of a list. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
