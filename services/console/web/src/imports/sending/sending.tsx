import { Trans, useLingui } from '@lingui/react/macro';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import importStyles from '../imports.module.css';
import styles from '../wizard.module.css';
import type { Sent } from './upload.ts';

/** How much of the file has been sent. */
export function Sending({ sent, onStop }: { sent: Sent | undefined; onStop: () => void }) {
  const { t } = useLingui();
  const { size } = useNumbers();
  const [bytes, total] = [size(sent?.bytes ?? 0), size(sent?.total ?? 0)];
  const isSent = sent !== undefined && sent.bytes >= sent.total;
  return (
    <div className={styles.step}>
      <div className={importStyles.progress}>
        <progress aria-label={t`Sending the file`} max={1} value={sent && sent.bytes / Math.max(sent.total, 1)} />
        <span>
          {sent === undefined ? (
            <Trans>The import is being opened…</Trans>
          ) : isSent ? (
            <Trans>All is sent, and is being stored…</Trans>
          ) : (
            <Trans>
              {bytes} of {total} sent
            </Trans>
          )}
        </span>
      </div>
      <div className={styles.acts}>
        <Button onPress={onStop}>
          <Trans>Stop</Trans>
        </Button>
      </div>
    </div>
  );
}
