// Changes what a branch is: its name, its description, who sees it, and its protection.
import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import type { BranchDetails } from '../branch-query.ts';

type EditBranchDialogProps = { branch: BranchDetails; onClose: () => void };

export function EditBranchDialog({ branch, onClose }: EditBranchDialogProps) {
  const { t } = useLingui();
  const { can = [], can_not: canNot = {} } = branch;
  const mayProtect = can.includes('protect');
  const mayType = can.includes('change_type');
  const save = useAct(
    (values: Record<string, string>) =>
      client.patch('/branches/{id}', {
        params: { path: { id: branch.id } },
        body: {
          branch: {
            ...(!branch.is_default && { name: values.name ?? '' }),
            description: values.description?.trim() ? values.description : null,
            // What stays as it is takes no right.
            ...(mayProtect && { is_protected: values.protected === 'on' }),
            ...(mayType && { branch_type: values.private === 'on' ? ('private' as const) : ('shared' as const) }),
          },
        },
      }),
    { changes: [['branches'], ['promotions'], ['deployments']], onDone: onClose },
  );
  return (
    <FormDialog label={t`Change ${branch.name}`} submit={<Trans>Save</Trans>} act={save} onClose={onClose}>
      {!branch.is_default && (
        <TextField name="name" label={<Trans>Name</Trans>} defaultValue={branch.name} autoFocus isRequired />
      )}
      <TextField
        name="description"
        label={<Trans>Description</Trans>}
        defaultValue={branch.description ?? ''}
        isLong
        autoFocus={branch.is_default}
      />
      {mayProtect ? (
        <CheckField
          name="protected"
          label={<Trans>Protected</Trans>}
          help={<Trans>What is deployed here, or promoted to here, is approved by someone else.</Trans>}
          isChecked={branch.is_protected}
        />
      ) : (
        <p className={pageStyles.quiet}>
          <Trans>Protection: {canNot.protect}</Trans>
        </p>
      )}
      {mayType ? (
        <CheckField
          name="private"
          label={<Trans>Private</Trans>}
          help={<Trans>Only its owner, administrators and members of its groups see it.</Trans>}
          isChecked={branch.branch_type === 'private'}
        />
      ) : (
        <p className={pageStyles.quiet}>{canNot.change_type}</p>
      )}
    </FormDialog>
  );
}
