// What the pages of imports read. An import is read again and again while it goes on, and only
// then.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';
import type { ImportState } from './import-address.ts';

export type Import = Schemas['Import'];
export type ImportDetails = Schemas['ImportDetails'];
export type ImportTable = Schemas['ImportTable'];
export type Metrics = Schemas['ImportMetrics'];

const pageSize = 50;
const listEveryMs = 4_000;
const processingEveryMs = 1_500;
const uploadingEveryMs = 5_000;

const openStates: Import['status'][] = ['created', 'uploading', 'processing'];

export function isOpen({ status }: Pick<Import, 'status'>): boolean {
  return openStates.includes(status);
}

/** The imports of the branch, the newest first, with their first tables. */
export const importsQuery = (branchId: number, state: ImportState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['imports', branchId, state],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) => {
      const q = [`branch_id:eq:${branchId}`, ...(state === undefined ? [] : [conditionOf(state)])];
      const query = { q, include: 'tables' as const, sort: '-id', page: pageParam, per_page: pageSize };
      return client.get('/imports', { params: { query }, signal });
    },
    getNextPageParam: ({ meta: { page, total_pages } }) => (page < total_pages ? page + 1 : undefined),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some(isOpen)) ? listEveryMs : false,
  });

function conditionOf(state: ImportState): string {
  return state === 'running' ? `status:in:${openStates.join('|')}` : `status:eq:${state}`;
}

export const importQuery = (id: number) =>
  queryOptions({
    queryKey: ['imports', 'one', id],
    queryFn: ({ signal }) => client.get('/imports/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || !isOpen(data)) return false;
      return data.status === 'processing' ? processingEveryMs : uploadingEveryMs;
    },
  });

/** How many rows a table has. */
export const rowCountQuery = (tableId: number) =>
  queryOptions({
    queryKey: ['rows', tableId, 'count'],
    queryFn: async ({ signal }) => {
      const body = { table_definition_id: tableId, startRow: 0, endRow: 1 };
      return (await client.post('/table_data/grid', { body, signal })).rowCount;
    },
  });

/** The mappings that are saved for a table, the default one first. */
export const mappingsQuery = (tableId: number) =>
  queryOptions({
    queryKey: ['import_mappings', tableId],
    queryFn: async ({ signal }) => {
      const query = { table_definition_id: tableId, sort: 'name', per_page: 100 };
      const { data } = await client.get('/import_mappings', { params: { query }, signal });
      return data.toSorted((a, b) => Number(b.is_default) - Number(a.is_default));
    },
  });
