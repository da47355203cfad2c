import { Trans, useLingui } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import { useAct } from '../api/use-act.ts';
import { ConfirmDialog } from '../parts/form/confirm-dialog.tsx';
import { hasPendingEdits, signOut } from './session.ts';

/**
 * Signs out. It asks first when edits that are not saved would be lost; `dialog` has the question,
 * and says why it failed.
 */
export function useSignOut(): { start: () => void; isPending: boolean; dialog: ReactNode } {
  const { t } = useLingui();
  const [isAsking, setIsAsking] = useState(false);
  const act = useAct(signOut, { changes: [] });
  const close = () => {
    setIsAsking(false);
    act.reset();
  };
  const dialog = (isAsking || act.error) && (
    <ConfirmDialog label={t`Sign out?`} submit={<Trans>Sign out</Trans>} act={act} onClose={close}>
      {isAsking && <Trans>You have edits that aren’t saved. They are dropped when you sign out.</Trans>}
    </ConfirmDialog>
  );
  return { start: () => (hasPendingEdits() ? setIsAsking(true) : act.mutate()), isPending: act.isPending, dialog };
}
