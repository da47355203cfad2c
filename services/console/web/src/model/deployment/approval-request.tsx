import { Trans } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { Form } from '../../parts/form/form.tsx';

type ApprovalRequestProps = {
  id: number;
  branch: string;
  /** Why the person may not deploy it alone. */
  reason: string | undefined;
};

/** Asks the approvers of the branch for a deployment. */
export function ApprovalRequest({ id, branch, reason }: ApprovalRequestProps) {
  const send = useAct(
    ({ comment = '' }: Record<string, string>) => {
      const body = comment.trim() === '' ? {} : { comment };
      return client.post('/deployments/{id}/send_request', { params: { path: { id } }, body });
    },
    { changes: [['deployments'], ['inbox']] },
  );
  return (
    <Form error={send.error} isPending={send.isPending} submit={<Trans>Ask for approval</Trans>} onSubmit={send.mutate}>
      <p>
        {reason} <Trans>The approvers of {branch} get a mail with these changes.</Trans>
      </p>
      <TextField name="comment" label={<Trans>What it is for</Trans>} isLong />
    </Form>
  );
}
