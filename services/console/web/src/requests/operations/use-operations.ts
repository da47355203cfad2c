// The operations of a table, a window at a time, never all of them.
import { useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { operationsKey } from '../queries.ts';
import { nextStart, windowSize } from '../review/next-start.ts';
import type { OperationFilter } from '../review/review-view.ts';

export function useOperations(id: number, tableId: number, { kind, decision, problem }: OperationFilter) {
  const filter = { kind, decision, problem };
  return useInfiniteQuery({
    queryKey: [...operationsKey(id), 'window', tableId, filter],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      client.get('/change_requests/{id}/operations', {
        params: {
          path: { id },
          query: {
            table_definition_id: tableId,
            ...(kind && { kind }),
            ...(decision && { decision }),
            ...(problem && { has_problem: 'true' as const }),
            startRow: pageParam,
            endRow: pageParam + windowSize,
          },
        },
        signal,
      }),
    getNextPageParam: (last, pages) => nextStart(last, pages, filter),
    // What was shown stays, so that the decisions are about that: a notice says when it is
    // outdated.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}
