import { useLingui } from '@lingui/react/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ViewMembers } from '../../address/view.ts';
import { client } from '../../api/client.ts';
import { explainError } from '../../api/explain-error.ts';
import { useAct } from '../../api/use-act.ts';
import { noDifference } from './state/difference.ts';
import { updatedState } from './state/view-state.ts';
import { type ViewDetails, viewQuery } from './view-queries.ts';

type Save = { view: ViewDetails; shown: ViewMembers };

/** Saves what one sees into its view. Refused, what one sees stays in the address. */
export function useSaveView(onSaved: () => void) {
  const { t } = useLingui();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: '/t/$key' });
  const save = async ({ view, shown }: Save) => {
    const path = { id: view.id };
    const now = await client.get('/views/{id}', { params: { path } });
    // The API has no versions of views: what others have saved is seen before it is replaced.
    if (JSON.stringify(now.state) !== JSON.stringify(view.state)) {
      queries.setQueryData(viewQuery(view.id).queryKey, now);
      throw new Error(
        t`The view was changed since you opened it. Your changes are still here: look at them, and save again.`,
      );
    }
    return client.patch('/views/{id}', { params: { path }, body: { view: { state: updatedState(now.state, shown) } } });
  };
  const saveOrLookAgain = async (given: Save) => {
    try {
      return await save(given);
    } catch (error) {
      // It was deleted, or is not shared any more: the page says so.
      if (explainError(error).status === 404) void queries.invalidateQueries({ queryKey: ['views'] });
      throw error;
    }
  };
  return useAct(saveOrLookAgain, {
    changes: [['views']],
    onDone: (view) => {
      queries.setQueryData(viewQuery(view.id).queryKey, view);
      void navigate({ to: '.', search: (search) => ({ ...search, ...noDifference }), replace: true });
      onSaved();
    },
  });
}
