// Deciding operations. What is shown changes at once; when the server has answered, only the
// request, the counts and the operations that went along are brought up to date.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { meQuery } from '../../api/queries.ts';
import type { Verb } from '../../parts/review/verb.ts';
import { type ChangeRequest, operationsKey, requestKey } from '../queries.ts';
import type { OperationPages } from '../review/next-start.ts';
import { changesWhatIsApplied, decidePages, type Meant } from './decide-pages.ts';

export type Decided = { meant: Meant; verb: Verb; comment?: string | undefined };

/** What came of the last decision. */
export type Outcome = Pick<Schemas['DecisionOutcome'], 'decided_count' | 'also' | 'also_count'> & { verb: Verb };

export type Decisions = {
  /** The same function at every render. */
  decide: (decided: Decided) => void;
  isPending: boolean;
  outcome: Outcome | undefined;
  error: unknown;
};

// The most that one part of a call takes.
const mostIds = 1_000;

/** Of what one does to the operations: the revision that it leads to is the person's own. */
export const decideKey = (id: number) => ['decide', id];

/** `onRevision`: called with the revision that the caller's own decisions have led to. */
export function useDecisions(id: number, onRevision: (revision: string | null) => void): Decisions {
  const queries = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const windows = { queryKey: [...operationsKey(id), 'window'] };
  const patch = (meant: Meant, { verb, comment = '' }: Decided) => {
    const decision = { verb, comment: comment.trim() || null, userId: me?.user?.id ?? null };
    queries.setQueriesData<OperationPages>(windows, (pages) => decidePages(pages, meant, decision));
  };
  const mutation = useMutation({
    mutationKey: decideKey(id),
    mutationFn: (decided: Decided) =>
      client.post('/change_requests/{id}/decisions', { params: { path: { id } }, body: { decisions: parts(decided) } }),
    onMutate: async (decided) => {
      await queries.cancelQueries(windows);
      setError(undefined);
      const shown = queries
        .getQueriesData<OperationPages>(windows)
        .flatMap(([, pages]) => pages?.pages.flatMap(({ operations }) => operations) ?? []);
      patch(decided.meant, decided);
      return { changes: changesWhatIsApplied(shown, decided.meant, decided.verb) };
    },
    onSuccess: async ({ decisions, ...done }, decided, context) => {
      patch({ ids: done.also.map(({ operation_id }) => operation_id) }, decided);
      setOutcome({ ...done, verb: decided.verb });
      queries.setQueryData<ChangeRequest>(
        requestKey(id),
        (request) => request && { ...request, counts: { ...request.counts, ...decisions } },
      );
      // More went along than the answer names.
      if (done.also_count > done.also.length) void queries.invalidateQueries(windows);
      // Of decisions in quick succession the last one brings the rest up to date.
      if (queries.isMutating({ mutationKey: decideKey(id) }) > 1) return;
      void queries.invalidateQueries({ queryKey: [...operationsKey(id), 'counts'] });
      await queries.invalidateQueries({ queryKey: requestKey(id), exact: true });
      const request = queries.getQueryData<ChangeRequest>(requestKey(id));
      if (request && (context.changes || done.also_count > 0)) onRevision(request.revision);
    },
    onError: (refusal) => {
      setError(refusal);
      setOutcome(undefined);
      void queries.invalidateQueries({ queryKey: operationsKey(id) });
      void queries.invalidateQueries({ queryKey: requestKey(id) });
    },
  });
  return { decide: mutation.mutate, isPending: mutation.isPending, outcome, error };
}

function parts({ meant, verb: decision, comment = '' }: Decided): Schemas['OperationDecision'][] {
  const said = comment.trim() === '' ? {} : { comment: comment.trim() };
  if ('ids' in meant) {
    const { ids } = meant;
    const starts = Array.from({ length: Math.ceil(ids.length / mostIds) }, (_, part) => part * mostIds);
    return starts.map((start) => ({ operation_ids: ids.slice(start, start + mostIds), decision, ...said }));
  }
  const { kind, decision: before, problem } = meant.filter;
  const filter = {
    table_definition_id: meant.tableId,
    ...(kind && { kind }),
    ...(before && { decision: before }),
    ...(problem && { has_problem: true }),
  };
  return [{ filter, decision, ...said }];
}
