// Deciding the rows of a promotion. The decision shows at once when the server has taken it; the
// revision that it leads to is the person's own.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, type Schemas } from '../../../api/client.ts';
import { type Promotion, promotionQuery } from '../../change-queries.ts';
import { decideRow } from './decide-row.ts';
import { promotedRowsKey, type RowPages } from './promoted-rows-query.ts';

type Decision = Schemas['PromotedRowDecision'];

export type RowDecisions = {
  /** These rows, or all that match. */
  decide: (which: Pick<Decision, 'rows' | 'filter'>, decision: Decision['decision'], reason?: string) => void;
  isPending: boolean;
  error: unknown;
};

/** `onRevision`: called with the revision that the decisions have led to. */
export function useRowDecisions({ id }: Promotion, onRevision: (revision: string | null) => void): RowDecisions {
  const queries = useQueryClient();
  const { queryKey } = promotionQuery(id);
  const revisionNow = () => queries.getQueryData(queryKey)?.revision ?? null;
  const mutation = useMutation({
    mutationFn: (decision: Decision) =>
      client.post('/promotions/{id}/decisions', { params: { path: { id } }, body: { decisions: [decision] } }),
    onSuccess: async (_, decision) => {
      const before = revisionNow();
      await queries.invalidateQueries({ queryKey, exact: true });
      const now = revisionNow();
      // Those that are shown stay where they are; all others are read again.
      if (decision.rows)
        for (const [key, pages] of queries.getQueriesData<RowPages>({ queryKey: promotedRowsKey(id, before) }))
          queries.setQueryData([...promotedRowsKey(id, now), key.at(-1)], decideRow(pages, decision));
      else void queries.invalidateQueries({ queryKey: ['promoted_rows', id] });
      onRevision(now);
    },
    onError: () => void queries.invalidateQueries({ queryKey: ['promoted_rows', id] }),
  });
  const decide: RowDecisions['decide'] = (which, decision, reason = '') => {
    const comment = reason.trim();
    mutation.mutate({ ...which, decision, ...(comment && { comment }) });
  };
  return { decide, isPending: mutation.isPending, error: mutation.error };
}
