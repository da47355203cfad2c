// The steps of a creator, each with a comment: send, withdraw, cancel.
import { Plural, Trans, useLingui } from '@lingui/react/macro';
import { CommentField } from '../../parts/form/comment-field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import type { ChangeRequest } from '../queries.ts';
import { changeCount, needsComment, type PlainStep } from './steps.ts';
import { useStep } from './use-step.ts';

type StepDialogProps = {
  step: PlainStep;
  request: ChangeRequest;
  revision: string | null;
  onDone: (request: ChangeRequest) => void;
  onClose: () => void;
};

export function StepDialog({ step, request, revision, onDone, onClose }: StepDialogProps) {
  const { t } = useLingui();
  const act = useStep(request, revision, (after) => {
    onDone(after);
    onClose();
  });
  const count = changeCount(request);
  const titles = {
    send_request: t`Send for review`,
    withdraw: t`Withdraw the request`,
    cancel: t`Cancel the request for good`,
  };
  const says = {
    send_request: (
      <Trans>The approvers of {request.branch.name} get a mail. Until you withdraw it, nothing of it changes.</Trans>
    ),
    withdraw: <Trans>It becomes a draft again, and its approvals are deleted.</Trans>,
    cancel: <Trans>Nothing of it is applied, and it can’t be opened again.</Trans>,
  };
  const submits = {
    send_request: <Plural value={count} one="Send # change for review" other="Send # changes for review" />,
    withdraw: <Trans>Withdraw it</Trans>,
    cancel: <Plural value={count} one="Cancel # change" other="Cancel # changes" />,
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
        <CommentField autoFocus isRequired={needsComment(step, request)} />
      </Form>
    </ModalDialog>
  );
}
