// How the operations are decided, and what the person may do with the request now. It is there
// before the rows are.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { meQuery } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import reviewStyles from '../../parts/review/review.module.css';
import type { Decisions } from '../decisions/use-decisions.ts';
import type { ChangeRequest } from '../queries.ts';
import { useReviewKeys } from '../review/use-review-keys.ts';
import { DecisionCounts } from './decision-counts.tsx';
import { DecisionOutcome } from './decision-outcome.tsx';
import { FinishDialog } from './finish-dialog.tsx';
import { KeysHint } from './keys-hint.tsx';
import { StepDialog } from './step-dialog.tsx';
import styles from './steps.module.css';
import { changeCount, type PlainStep, reviewSteps, whyNot } from './steps.ts';

type BottomBarProps = {
  request: ChangeRequest;
  revision: string | null;
  decisions: Decisions;
  onDone: (request: ChangeRequest) => void;
};

export function BottomBar({ request, revision, decisions, onDone }: BottomBarProps) {
  const { t } = useLingui();
  const [opened, setOpened] = useState<PlainStep | 'finish'>();
  const { can } = request;
  const isReview = reviewSteps(request).length > 0;
  const main = isReview ? ('finish' as const) : can.includes('send_request') ? ('send_request' as const) : undefined;
  // While decisions are under way, the revision that they lead to is not known yet.
  useReviewKeys(main && !decisions.isPending ? { finish: () => setOpened(main) } : {});
  const reason = whyNot(request);
  const close = () => setOpened(undefined);
  const dialog = { request, revision, onDone, onClose: close };
  return (
    <section className={`${reviewStyles.bar} ${styles.bar}`} aria-label={t`Decisions and steps`}>
      <Refusal error={decisions.error} />
      <DecisionOutcome
        requestId={request.id}
        outcome={request.status === 'requested' ? decisions.outcome : undefined}
      />
      <div className={styles.line}>
        <div className={styles.counts}>
          <Counts request={request} />
          <OwnApproval request={request} />
          {reason !== undefined && <p className={styles.quiet}>{reason}</p>}
        </div>
        {request.status === 'requested' && isReview && <KeysHint />}
        <div className={styles.steps}>
          {can.includes('cancel') && (
            <Button kind="quiet" onPress={() => setOpened('cancel')}>
              <Trans>Cancel the request…</Trans>
            </Button>
          )}
          {can.includes('withdraw') && (
            <Button onPress={() => setOpened('withdraw')}>
              <Trans>Withdraw…</Trans>
            </Button>
          )}
          {main && (
            <Button kind="primary" isDisabled={decisions.isPending} onPress={() => setOpened(main)}>
              <MainName request={request} isReview={isReview} />
            </Button>
          )}
        </div>
      </div>
      {opened === 'finish' && <FinishDialog {...dialog} />}
      {opened && opened !== 'finish' && <StepDialog step={opened} {...dialog} />}
    </section>
  );
}

function MainName({ request, isReview }: { request: ChangeRequest; isReview: boolean }): ReactNode {
  const count = changeCount(request);
  const branch = request.branch.name;
  if (!isReview) return <Plural value={count} one="Send # change for review…" other="Send # changes for review…" />;
  if (request.status === 'requested') return <Trans>Finish review…</Trans>;
  if (!request.can.includes('apply')) return <Trans>Give back…</Trans>;
  return <Plural value={count} one={`Apply # change to ${branch}…`} other={`Apply # changes to ${branch}…`} />;
}

function Counts({ request: { status, counts } }: { request: ChangeRequest }) {
  const { operations, with_problems: problems } = counts;
  if (status !== 'draft' && status !== 'changes_requested') return <DecisionCounts counts={counts} />;
  return (
    <p>
      <Plural value={operations} one="# change" other="# changes" />
      {problems > 0 && (
        <span className={pageStyles.bad}>
          {' · '}
          <Plural value={problems} one="# with a problem" other="# with problems" />
        </span>
      )}
    </p>
  );
}

function OwnApproval({ request: { status, approvals } }: { request: ChangeRequest }) {
  const { data: me } = useQuery(meQuery);
  const own = approvals.find(({ user_id, is_current }) => is_current && user_id === me?.user?.id);
  if (!own || status !== 'requested') return null;
  return (
    <p className={pageStyles.ok}>
      <Trans>You have approved it as it is now.</Trans>
    </p>
  );
}
