// A step of a promotion or deployment: what it does, and a comment.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { CommentField } from '../../parts/form/comment-field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import { type Step, type Stepped, useChangeStep } from './use-change-step.ts';

/** `place`: the branch that it changes. `count`: of how many tables it is. */
export type StepProps = {
  stepped: Stepped;
  place: string;
  count: number /** What applying says, too. */;
  note?: ReactNode;
};

type StepDialogProps = StepProps & { step: Step; onClose: () => void };

export function StepDialog({ step, stepped, place, count, note, onClose }: StepDialogProps) {
  const { t } = useLingui();
  const act = useChangeStep(stepped, onClose);
  const isPromotion = stepped.kind === 'promotion';
  const titles = {
    apply: isPromotion ? t`Promote to ${place}` : t`Deploy on ${place}`,
    send_request: t`Send for review`,
    reject: t`Reject with a comment`,
    cancel: t`Take it back`,
    abandon: t`Abandon it`,
  };
  const says = {
    apply: isPromotion ? (
      <Trans>The changes are merged into {place}. New structures are drafts there until they are deployed.</Trans>
    ) : (
      <Trans>All of it is deployed together, or nothing. The tables can be used again right afterwards.</Trans>
    ),
    send_request: <Trans>The approvers of {place} get a mail with your comment.</Trans>,
    reject: <Trans>It ends here, and nothing of it is applied. Its creator gets your comment by mail.</Trans>,
    cancel: <Trans>It ends here, and nothing of it is applied. You can propose it again later.</Trans>,
    abandon: <Trans>It ends here. The approvers of {place} get a mail.</Trans>,
  };
  const submits = {
    apply: isPromotion ? (
      <Plural value={count} one={`Promote # table to ${place}`} other={`Promote # tables to ${place}`} />
    ) : (
      <Plural value={count} one={`Deploy # table on ${place}`} other={`Deploy # tables on ${place}`} />
    ),
    send_request: <Trans>Send for review</Trans>,
    reject: <Trans>Reject it</Trans>,
    cancel: <Trans>Take it back</Trans>,
    abandon: <Trans>Abandon it</Trans>,
  };
  return (
    <ModalDialog label={titles[step]} onClose={onClose}>
      <Form
        error={act.error}
        isPending={act.isPending}
        submit={submits[step]}
        onCancel={onClose}
        onSubmit={({ comment = '' }) => act.mutate({ step, comment })}
      >
        <p>{says[step]}</p>
        {step === 'apply' ? note : <CommentField autoFocus isRequired={step === 'reject'} />}
      </Form>
    </ModalDialog>
  );
}
