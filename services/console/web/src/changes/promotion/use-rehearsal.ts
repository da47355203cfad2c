// Tries a promotion with the decisions that are made so far, and keeps nothing of it.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { isEnded, isUnderWay, type Promotion } from '../change-queries.ts';
import { useIsActing } from '../use-is-acting.ts';
import { type Choices, none } from './resolutions.ts';

/** It starts without being asked for where the person may promote. */
export function useRehearsal({ id, status, can = [], revision }: Promotion, choices: Choices) {
  const [asked, setAsked] = useState<Choices>();
  const isOpen = !useIsActing() && !isEnded(status) && !isUnderWay(status);
  const query = useQuery({
    queryKey: ['rehearsals', 'promotions', id, revision, asked ?? none],
    queryFn: ({ signal }) =>
      client.post('/promotions/{id}/rehearse', {
        params: { path: { id } },
        body: { resolutions: Object.values(asked ?? none) },
        signal,
      }),
    enabled: isOpen && (asked !== undefined || can.includes('promote')),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const { data: result } = query;
  const isRevised = result !== undefined && revision !== null && result.revision !== revision;
  return {
    result,
    found: result && { ...result, conflicts: openConflicts(result) },
    error: query.error,
    isFetching: query.isFetching,
    checkedAt: query.dataUpdatedAt,
    isOld: isRevised || choices !== (asked ?? none),
    onCheck: () => (query.isFetched && choices === (asked ?? none) ? void query.refetch() : setAsked(choices)),
  };
}

function openConflicts({ conflicts, conflict_count: all }: Schemas['RehearsePromotionResult']): number {
  return all - conflicts.filter(({ resolution }) => resolution !== null).length;
}
