// The lists of change requests: a page of those of a branch or of a person, and what waits.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import type { RequestsView } from './requests-view.ts';

export type ListedRequest = Schemas['ChangeRequest'];

export const pageSize = 50;

/** Whose requests: those on a branch, or those that a person has created on any branch. */
export type Scope = { branch_id: number } | { created_by: number };

export const requestListQuery = (scope: Scope, { status, q, page = 1 }: RequestsView) =>
  queryOptions({
    queryKey: ['change_requests', 'list', scope, { status, q, page }],
    queryFn: ({ signal }) =>
      client.get('/change_requests', {
        params: {
          query: {
            ...scope,
            ...(status && { status }),
            ...(q && { q: [`title:contains:${q}`] }),
            sort: '-updated_at',
            page,
            per_page: pageSize,
          },
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** The requests of these ids, by id, to show more of them than the inbox says. */
export const requestsByIdQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: ['change_requests', 'list', 'of ids', ids],
    queryFn: async ({ signal }) => {
      const query = { q: [`id:in:${ids.join('|')}`], per_page: ids.length };
      const { data } = await client.get('/change_requests', { params: { query }, signal });
      return new Map(data.map((request) => [request.id, request]));
    },
    enabled: ids.length > 0,
  });
