// How a review ends: apply, approve, give back or reject, with a comment.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import { CommentField } from '../../parts/form/comment-field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import type { ChangeRequest } from '../queries.ts';
import { DecisionCounts } from './decision-counts.tsx';
import { refusedRows } from './refused.ts';
import { RefusedRows } from './refused-rows.tsx';
import styles from './steps.module.css';
import { changeCount, needsComment, type ReviewStep, reviewSteps } from './steps.ts';
import { useStep } from './use-step.ts';

type FinishDialogProps = {
  request: ChangeRequest;
  /** What the person was shown. */
  revision: string | null;
  onDone: (request: ChangeRequest) => void;
  onClose: () => void;
};

export function FinishDialog({ request, revision, onDone, onClose }: FinishDialogProps) {
  const { t } = useLingui();
  const steps = reviewSteps(request);
  const count = changeCount(request);
  // Where nothing is left to be applied, the request goes back.
  const usual = count === 0 ? steps.find((step) => step === 'request_changes') : steps[0];
  const [chosen, setChosen] = useState(usual ?? steps[0]);
  const act = useStep(request, revision, (after) => {
    onDone(after);
    onClose();
  });
  // The steps that are left after a refusal may be others.
  const step = chosen && steps.includes(chosen) ? chosen : steps[0];
  if (!step) return null;
  const hasRows = refusedRows(act.error).length > 0;
  return (
    <ModalDialog
      label={request.status === 'requested' ? t`Finish the review` : t`Apply or give back`}
      onClose={onClose}
    >
      <Form
        error={hasRows ? null : act.error}
        isPending={act.isPending}
        submit={<Submit step={step} count={count} branch={request.branch.name} />}
        onCancel={onClose}
        onSubmit={({ comment = '' }) => act.mutate({ step, comment })}
      >
        {hasRows && <RefusedRows request={request} error={act.error} onFollow={onClose} />}
        <DecisionCounts counts={request.counts} />
        {request.counts.with_problems > 0 && (
          <p className={pageStyles.bad}>
            <Plural
              value={request.counts.with_problems}
              one="# change has a problem or conflict: as long as it is accepted, nothing can be applied."
              other="# changes have problems or conflicts: as long as they are accepted, nothing can be applied."
            />
          </p>
        )}
        <fieldset className={styles.choices}>
          <legend>
            <Trans>What comes of it</Trans>
          </legend>
          {steps.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="step"
                value={one}
                checked={one === step}
                onChange={() => setChosen(one)}
                // biome-ignore lint/a11y/noAutofocus: a dialog begins with its choice.
                autoFocus={one === step}
              />
              <Choice step={one} request={request} />
            </label>
          ))}
        </fieldset>
        {request.status === 'requested' && request.can_not.apply && !steps.includes('apply') && (
          <p className={styles.quiet}>{request.can_not.apply}</p>
        )}
        <CommentField
          key={String(needsComment(step, request))}
          help={<Trans>Its creator gets it by mail.</Trans>}
          isRequired={needsComment(step, request)}
        />
      </Form>
    </ModalDialog>
  );
}

type SubmitProps = { step: ReviewStep; count: number; branch: string };

function Submit({ step, count, branch }: SubmitProps): ReactNode {
  if (step === 'apply')
    return <Plural value={count} one={`Apply # change to ${branch}`} other={`Apply # changes to ${branch}`} />;
  if (step === 'approve') return <Plural value={count} one="Approve # change" other="Approve # changes" />;
  return step === 'request_changes' ? <Trans>Give it back for changes</Trans> : <Trans>Reject the request</Trans>;
}

function Choice({ step, request }: { step: ReviewStep; request: ChangeRequest }) {
  const { undecided, returned } = request.counts;
  const names = {
    apply: request.status === 'requested' ? <Trans>Approve and apply at once</Trans> : <Trans>Apply</Trans>,
    approve: <Trans>Approve; it is applied later</Trans>,
    request_changes: <Trans>Give it back, so that its creator changes it</Trans>,
    reject: <Trans>Reject it for good</Trans>,
  };
  const approves = request.status === 'requested' && (step === 'apply' || step === 'approve');
  return (
    <span>
      {names[step]}
      {approves && undecided > 0 && (
        <span className={styles.quiet}>
          <Plural value={undecided} one="# undecided is accepted." other="# undecided are accepted." />
        </span>
      )}
      {step === 'apply' && returned > 0 && (
        <span className={styles.quiet}>
          <Plural
            value={returned}
            one="# returned becomes a new draft of its creator."
            other="# returned become a new draft of their creator."
          />
        </span>
      )}
    </span>
  );
}
