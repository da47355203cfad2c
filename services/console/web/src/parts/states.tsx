// What a list shows besides its items: that it is loading, that there are none, that it failed.
import { Trans, useLingui } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { isSignedOut, signIn } from '../api/client.ts';
import { explainError } from '../api/explain-error.ts';
import { Button } from './button.tsx';
import styles from './states.module.css';

/** Grey bars in place of lines. They show after 150 ms, so that a quick answer doesn't flicker. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  const { t } = useLingui();
  const widths = Array.from({ length: lines }, (_, line) => 92 - ((line * 17) % 40));
  return (
    <div className={styles.skeleton} role="status" aria-label={t`Loading…`}>
      {widths.map((width, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike and never move.
        <div key={line} className={styles.bar} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}

export function EmptyState({
  title,
  children,
  action,
}: {
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children && <p>{children}</p>}
      {action && <div className={styles.actions}>{action}</div>}
    </div>
  );
}

/** What failed, with what to do about it; a session that has ended leads to the log-in. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { lines, requestId } = explainError(error);
  const details = [...lines, requestId].filter(Boolean).join('\n');
  if (isSignedOut(error))
    return (
      <EmptyState
        title={<Trans>Your session has ended</Trans>}
        action={
          <Button kind="primary" onPress={signIn}>
            <Trans>Sign in again</Trans>
          </Button>
        }
      />
    );
  return (
    <div className={styles.state} role="alert">
      <p className={styles.title}>
        <Trans>This did not load</Trans>
      </p>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {requestId && (
        <p className={styles.details}>
          <Trans>Request</Trans> <code>{requestId}</code>
        </p>
      )}
      <div className={styles.actions}>
        {onRetry && (
          <Button kind="primary" onPress={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        )}
        <Button onPress={() => void navigator.clipboard.writeText(details)}>
          <Trans>Copy details</Trans>
        </Button>
      </div>
    </div>
  );
}
