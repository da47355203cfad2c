// Takes a step of a promotion or deployment. Also after a refusal the page shows how it stands now.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, type Schemas } from '../../api/client.ts';
import type { Change } from '../change-queries.ts';

export type ChangeKind = 'promotion' | 'deployment';
export type Step = 'apply' | 'send_request' | 'reject' | 'cancel' | 'abandon';

/** What a step is of: `revision` is what the person was shown. */
export type Stepped = {
  kind: ChangeKind;
  id: number;
  revision: string | null;
  /** Of a promotion: which side each conflict is decided for. */
  resolutions?: Schemas['ConflictResolution'][];
};

type Taken = { step: Step; comment: string };

// What an application changes besides the change itself.
const appliedKeys = [['tables'], ['rows'], ['comparisons']];

export function useChangeStep(stepped: Stepped, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (taken: Taken): Promise<Change> =>
      taken.step === 'apply' ? apply(stepped) : takeStep(stepped, taken.step, taken.comment),
    onSuccess: (after) => {
      // The page knows at once that it has ended, and asks no more what it would do.
      queries.setQueryData([`${stepped.kind}s`, 'one', stepped.id], after);
      onDone();
    },
    onSettled: async (_after, _error, { step }) => {
      const keys = [[`${stepped.kind}s`], ['inbox'], ...(step === 'apply' ? appliedKeys : [])];
      await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}

function apply({ kind, id, revision, resolutions = [] }: Stepped): Promise<Change> {
  const params = { path: { id } };
  // Without a revision the server takes what it has shown last to this person.
  const shown = revision === null ? {} : { revision };
  return kind === 'promotion'
    ? client.post('/promotions/{id}/promote', { params, body: { ...shown, resolutions } })
    : client.post('/deployments/{id}/deploy', { params, body: shown });
}

function takeStep({ kind, id }: Stepped, step: Exclude<Step, 'apply'>, typed: string): Promise<Change> {
  const options = { params: { path: { id } }, body: { comment: typed.trim() || null } };
  const isPromotion = kind === 'promotion';
  switch (step) {
    case 'send_request':
      return isPromotion
        ? client.post('/promotions/{id}/send_request', options)
        : client.post('/deployments/{id}/send_request', options);
    case 'reject':
      return isPromotion
        ? client.post('/promotions/{id}/reject', options)
        : client.post('/deployments/{id}/reject', options);
    case 'cancel':
      return isPromotion
        ? client.post('/promotions/{id}/cancel', options)
        : client.post('/deployments/{id}/cancel', options);
    case 'abandon':
      return isPromotion
        ? client.post('/promotions/{id}/abandon', options)
        : client.post('/deployments/{id}/abandon', options);
  }
}
