// What the person may do with a promotion or deployment now; it is in view from the beginning.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import reviewStyles from '../../parts/review/review.module.css';
import { type Change, isEnded, isUnderWay } from '../change-queries.ts';
import { StepDialog, type StepProps } from './step-dialog.tsx';
import styles from './steps.module.css';
import type { Step } from './use-change-step.ts';

type StepBarProps = StepProps & {
  change: Change;
  /** What is to be said beside the steps. */
  children?: ReactNode;
};

export function StepBar({ change, children, ...props }: StepBarProps) {
  const { t } = useLingui();
  const [opened, setOpened] = useState<Step>();
  const { can = [], can_not: canNot = {}, status } = change;
  const { stepped, place, count } = props;
  const applying = stepped.kind === 'promotion' ? 'promote' : 'deploy';
  const mayApply = can.includes(applying);
  const mayCancel = can.includes('cancel');
  if (isEnded(status)) return null;
  const refusal = isUnderWay(status) ? undefined : canNot[applying];
  return (
    <section className={`${reviewStyles.bar} ${styles.bar}`} aria-label={t`Steps`}>
      <div className={styles.says}>
        {children}
        {isUnderWay(status) && (
          <p role="status">
            <Trans>It is being applied…</Trans>
          </p>
        )}
        {refusal !== undefined && <p className={pageStyles.quiet}>{refusal}</p>}
      </div>
      <div className={styles.steps}>
        {mayCancel && (
          <Button kind="quiet" onPress={() => setOpened('cancel')}>
            <Trans>Take it back…</Trans>
          </Button>
        )}
        {!mayCancel && can.includes('abandon') && (
          <Button kind="quiet" onPress={() => setOpened('abandon')}>
            <Trans>Abandon…</Trans>
          </Button>
        )}
        {!mayCancel && can.includes('reject') && (
          <Button onPress={() => setOpened('reject')}>
            <Trans>Reject…</Trans>
          </Button>
        )}
        {can.includes('send_request') && (
          <Button kind={mayApply ? 'plain' : 'primary'} onPress={() => setOpened('send_request')}>
            <Trans>Send for review…</Trans>
          </Button>
        )}
        {mayApply && (
          <Button kind="primary" onPress={() => setOpened('apply')}>
            {stepped.kind === 'promotion' ? (
              <Plural value={count} one={`Promote # table to ${place}…`} other={`Promote # tables to ${place}…`} />
            ) : (
              <Plural value={count} one={`Deploy # table on ${place}…`} other={`Deploy # tables on ${place}…`} />
            )}
          </Button>
        )}
      </div>
      {opened && <StepDialog {...props} step={opened} onClose={() => setOpened(undefined)} />}
    </section>
  );
}
