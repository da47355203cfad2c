// Whether a change would succeed, as its rehearsal has found, and what is in its way.
import { Plural, Trans } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { CheckStatus } from '../../parts/review/check-status.tsx';
import reviewStyles from '../../parts/review/review.module.css';
import { Verdict } from '../../parts/review/verdict.tsx';
import { Time } from '../../parts/time.tsx';
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
    <div className={reviewStyles.notice}>
      <CheckStatus
        isFetching={isFetching}
        error={error}
        checking={<Trans>Checking what it would do…</Trans>}
        unchecked={<Trans>Not checked yet whether it would succeed</Trans>}
      >
        {found && (
          <>
            <Findings found={found} />
            <span className={pageStyles.quiet}>
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
        )}
      </CheckStatus>
      <Button isDisabled={isFetching} onPress={onCheck}>
        {found || error ? <Trans>Check again</Trans> : <Trans>Check</Trans>}
      </Button>
      {found && <Violations violations={[...found.violations, ...found.warnings]} />}
    </div>
  );
}

function Findings({ found: { conflicts, violations } }: { found: Found }) {
  const problems = violations.length;
  if (conflicts === 0 && problems === 0)
    return (
      <Verdict isGood>
        <Trans>Would succeed</Trans>
      </Verdict>
    );
  return (
    <Verdict isGood={false}>
      {conflicts > 0 && <Plural value={conflicts} one="# conflict to decide" other="# conflicts to decide" />}
      {conflicts > 0 && problems > 0 && ' · '}
      {problems > 0 && <Plural value={problems} one="# problem" other="# problems" />}
    </Verdict>
  );
}
