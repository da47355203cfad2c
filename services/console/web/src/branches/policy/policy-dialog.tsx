// Says how rows of a branch change.
import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, SelectField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import type { BranchDetails } from '../branch-query.ts';

const mostApprovals = 5;

type PolicyDialogProps = { branch: BranchDetails; onClose: () => void };

export function PolicyDialog({ branch, onClose }: PolicyDialogProps) {
  const { t } = useLingui();
  const save = useAct(
    (values: Record<string, string>) =>
      client.patch('/branches/{id}', {
        params: { path: { id: branch.id } },
        body: {
          branch: {
            row_changes: values.row_changes === 'request' ? 'request' : 'direct',
            required_approvals: Number(values.required_approvals),
            self_approval: values.self_approval === 'on',
            comment_required: values.comment_required === 'on',
            machine_imports: values.machine_imports === 'on',
          },
        },
      }),
    { changes: [['branches'], ['tables']], onDone: onClose },
  );
  return (
    <FormDialog label={t`How rows of ${branch.name} change`} submit={<Trans>Save</Trans>} act={save} onClose={onClose}>
      <SelectField
        name="row_changes"
        label={<Trans>Rows change</Trans>}
        options={[
          { id: 'direct', name: t`directly` },
          { id: 'request', name: t`by change requests` },
        ]}
        defaultValue={branch.row_changes}
        help={<Trans>A table may have a rule of its own.</Trans>}
      />
      <SelectField
        name="required_approvals"
        label={<Trans>Approvals that a change request takes</Trans>}
        options={Array.from({ length: mostApprovals }, (_, place) => ({
          id: String(place + 1),
          name: String(place + 1),
        }))}
        defaultValue={String(branch.required_approvals)}
      />
      <CheckField
        name="self_approval"
        label={<Trans>Its creator may approve it</Trans>}
        isChecked={branch.self_approval}
      />
      <CheckField
        name="comment_required"
        label={<Trans>Sending and approving it take a comment</Trans>}
        isChecked={branch.comment_required}
      />
      <CheckField
        name="machine_imports"
        label={<Trans>Imports of applications go on</Trans>}
        help={<Trans>Where rows change by change requests.</Trans>}
        isChecked={branch.machine_imports}
      />
    </FormDialog>
  );
}
