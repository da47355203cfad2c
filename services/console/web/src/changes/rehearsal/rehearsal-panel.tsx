// Whether a change would succeed, as its rehearsal has found, and what is in its way.
import { Plural, Trans } from '@lingui/react/macro';
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react';
import type { Schemas } from '../../api/client.ts';
import { explainError } from '../../api/explain-error.ts';
import { Button } from '../../parts/button.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './rehearsal.module.css';
import { Violations } from './violations.tsx';

/** What a rehearsal has found; `warnings` are in nothing's way. */
type Found = { conflicts: number; violations: Schemas['Violation'][]; warnings: Schemas['Violation'][] };

type RehearsalPanelProps = {
  found: Found | undefined;
  error: unknown;
  isFetching: boolean;
  checkedAt: number;
  /** Something has changed since. */
  isOld: boolean;
  onCheck: () => void;
};

export function RehearsalPanel({ found, error, isFetching, checkedAt, isOld, onCheck }: RehearsalPanelProps) {
  return (
    <div className={styles.panel}>
      <p role="status" className={styles.verdict}>
        {isFetching ? (
          <>
            <CircleDashed size={16} aria-hidden /> <Trans>Checking what it would do…</Trans>
          </>
        ) : error ? (
          <span className={styles.bad}>
            <CircleAlert size={16} aria-hidden /> <Trans>The check failed:</Trans> {explainError(error).lines.join(' ')}
          </span>
        ) : found ? (
          <>
            <Verdict found={found} />
            <span className={styles.quiet}>
              <Trans>
                checked <Time instant={new Date(checkedAt).toISOString()} />
              </Trans>
              {isOld && (
                <>
                  {' · '}
                  <Trans>before the latest changes</Trans>
                </>
              )}
            </span>
          </>
        ) : (
          <>
            <CircleDashed size={16} aria-hidden /> <Trans>Not checked yet whether it would succeed</Trans>
          </>
        )}
      </p>
      <Button isDisabled={isFetching} onPress={onCheck}>
        {found || error ? <Trans>Check again</Trans> : <Trans>Check</Trans>}
      </Button>
      {found && <Violations violations={[...found.violations, ...found.warnings]} />}
    </div>
  );
}

function Verdict({ found: { conflicts, violations } }: { found: Found }) {
  const problems = violations.length;
  if (conflicts === 0 && problems === 0)
    return (
      <strong className={styles.ok}>
        <CircleCheck size={16} aria-hidden /> <Trans>Would succeed</Trans>
      </strong>
    );
  return (
    <strong className={styles.bad}>
      <CircleAlert size={16} aria-hidden />{' '}
      {conflicts > 0 && <Plural value={conflicts} one="# conflict to decide" other="# conflicts to decide" />}
      {conflicts > 0 && problems > 0 && ' · '}
      {problems > 0 && <Plural value={problems} one="# problem" other="# problems" />}
    </strong>
  );
}
