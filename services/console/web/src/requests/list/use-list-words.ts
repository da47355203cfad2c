import { useLingui } from '@lingui/react/macro';
import { useRequestWords } from '../request-words.ts';
import type { ChangeKind, ListedState } from './requests-view.ts';

/** The names of the kinds and states by which the list is narrowed. */
export function useListWords() {
  const { t } = useLingui();
  const { status } = useRequestWords();
  return {
    kind: {
      change_request: t`change requests`,
      promotion: t`promotions`,
      deployment: t`deployments`,
    } satisfies Record<ChangeKind, string>,
    state: {
      draft: status.draft.name,
      requested: status.requested.name,
      changes_requested: status.changes_requested.name,
      approved: status.approved.name,
      under_way: t`under way`,
      done: t`done`,
      failed: status.failed.name,
      rejected: status.rejected.name,
      cancelled: status.cancelled.name,
    } satisfies Record<ListedState, string>,
  };
}
