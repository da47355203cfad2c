import { Trans, useLingui } from '@lingui/react/macro';
import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../parts/button.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import styles from '../wizard.module.css';

/** Asks before one leaves the wizard while a file is being sent. */
export function LeavingDialog({ isRunning }: { isRunning: boolean }) {
  const { t } = useLingui();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isRunning && current.pathname !== next.pathname,
    enableBeforeUnload: () => isRunning,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <ModalDialog label={t`The file is still being sent`} onClose={reset}>
      <p className={styles.about}>
        <Trans>When you leave now, the upload stops, and nothing is imported.</Trans>
      </p>
      <div className={styles.acts}>
        <Button kind="primary" onPress={reset}>
          <Trans>Stay here</Trans>
        </Button>
        <Button onPress={proceed}>
          <Trans>Stop and leave</Trans>
        </Button>
      </div>
    </ModalDialog>
  );
}
