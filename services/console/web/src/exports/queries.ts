// What the pages of exports read. A list with an export that runs is read again and again.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';
import type { ExportState } from './export-address.ts';

export type Export = Schemas['Export'];
export type NewExport = Schemas['CreateExportRequest'];

const pageSize = 50;
const listEveryMs = 4_000;
const oneEveryMs = 1_000;

const openStates: Export['status'][] = ['created', 'processing'];

export function isOpen({ status }: Pick<Export, 'status'>): boolean {
  return openStates.includes(status);
}

/** The exports of the branch, the newest first. */
export const exportsQuery = (branchId: number, state: ExportState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['exports', branchId, state],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) => {
      const q = state === undefined ? [] : [conditionOf(state)];
      const query = { branch_id: branchId, q, sort: '-id', page: pageParam, per_page: pageSize };
      return client.get('/exports', { params: { query }, signal });
    },
    getNextPageParam: ({ meta: { page, total_pages } }) => (page < total_pages ? page + 1 : undefined),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some(isOpen)) ? listEveryMs : false,
  });

function conditionOf(state: ExportState): string {
  return state === 'running' ? `status:in:${openStates.join('|')}` : `status:eq:${state}`;
}

export const exportQuery = (id: number) =>
  queryOptions({
    queryKey: ['exports', 'one', id],
    queryFn: ({ signal }) => client.get('/exports/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? oneEveryMs : false),
  });
