// What a person may do with a saved view, as the API judges it.
import type { View } from './view-queries.ts';

type Person = { userId: number /** Holds `develop` on the table. */; isDeveloper: boolean };

export type ViewRights = {
  /** Save its state, rename and delete it. */
  mayChange: boolean;
  /** Say who sees it. */
  mayShare: boolean;
  /** Make the table open with it for all who have no default of their own. */
  mayBeDefault: boolean;
};

export function rightsTo(view: Pick<View, 'owner_id' | 'sharing'>, { userId, isDeveloper }: Person): ViewRights {
  const isOwner = view.owner_id === userId;
  return {
    mayChange: isOwner || (view.sharing === 'shared' && isDeveloper),
    mayShare: isOwner,
    mayBeDefault: isDeveloper && view.sharing !== 'private',
  };
}
