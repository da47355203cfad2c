import { useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { peopleQuery } from '../../api/queries.ts';
import type { View } from './view-queries.ts';
import type { ViewRights } from './view-rights.ts';

/** Who may see a view and change it, to choose from. */
export function useSharingChoices(): { id: View['sharing']; name: string }[] {
  const { t } = useLingui();
  return [
    { id: 'private', name: t`Only me` },
    { id: 'shared', name: t`All who see the table` },
    { id: 'locked', name: t`All, and only I change it` },
  ];
}

/** What a person may not do with a view, and who may; undefined when they may do all. */
export function useViewRefusal(view: View, rights: ViewRights, userId: number): string | undefined {
  const { t } = useLingui();
  const isOwn = view.owner_id === userId;
  const { data: people } = useQuery({ ...peopleQuery, enabled: !isOwn });
  const owner = people?.find(({ id }) => id === view.owner_id)?.name || t`User ${view.owner_id}`;
  if (isOwn) {
    if (rights.mayBeDefault || view.sharing === 'private') return undefined;
    return t`Developers of the table can open it with this view for all.`;
  }
  if (rights.mayChange) return t`Only ${owner} may say who sees this view.`;
  if (view.sharing === 'locked') return t`Only ${owner} may change this view.`;
  return t`Only ${owner} and developers of the table may change this view.`;
}
