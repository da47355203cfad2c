// Takes a step of a change request. Also after a refusal the page shows how things stand now.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { type ChangeRequest, operationsKey, requestKey } from '../queries.ts';
import type { Step } from './steps.ts';

type Taken = { step: Step; comment: string };

/** `revision`: what the person was shown; approval and application are of that alone. */
export function useStep(request: ChangeRequest, revision: string | null, onDone: (request: ChangeRequest) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (taken: Taken) => takeStep(request.id, revision, taken),
    onSuccess: (after) => {
      queries.setQueryData<ChangeRequest>(requestKey(request.id), after);
      onDone(after);
    },
    onSettled: async (_after, error, { step }) => {
      // A refused application may have found problems that the operations didn't have.
      if (error && step === 'apply') void queries.invalidateQueries({ queryKey: ['rehearsals', request.id] });
      if (!error && step === 'apply') void queries.invalidateQueries({ queryKey: ['rows'] });
      void queries.invalidateQueries({ queryKey: operationsKey(request.id) });
      void queries.invalidateQueries({ queryKey: ['inbox'] });
      await queries.invalidateQueries({ queryKey: ['change_requests'] });
    },
  });
}

function takeStep(id: number, revision: string | null, { step, comment }: Taken): Promise<ChangeRequest> {
  const params = { path: { id } };
  const said = comment.trim() || null;
  // Only requests that have ended are without a revision, and those have no such steps.
  const shown = { revision: revision ?? '', comment: said };
  switch (step) {
    case 'apply':
      return client.post('/change_requests/{id}/apply', { params, body: shown });
    case 'approve':
      return client.post('/change_requests/{id}/approve', { params, body: shown });
    case 'request_changes':
      return client.post('/change_requests/{id}/request_changes', { params, body: { comment } });
    case 'reject':
      return client.post('/change_requests/{id}/reject', { params, body: { comment } });
    case 'send_request':
      return client.post('/change_requests/{id}/send_request', { params, body: { comment: said } });
    case 'withdraw':
      return client.post('/change_requests/{id}/withdraw', { params, body: { comment: said } });
    case 'cancel':
      return client.post('/change_requests/{id}/cancel', { params, body: { comment: said } });
  }
}
