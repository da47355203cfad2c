import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import type { Group } from '../queries.ts';

type GroupDialogProps = {
  /** Unset for a new one. */
  group?: Group;
  onClose: () => void;
  onDone: (group: Group) => void;
};

/** Makes a custom group, or changes its name. Rights and members come on its page. */
export function GroupDialog({ group, onClose, onDone }: GroupDialogProps) {
  const { t } = useLingui();
  const save = useAct(
    ({ name = '', description = '' }: Record<string, string>) => {
      const body = { user_group: { name, description: description.trim() === '' ? null : description } };
      return group
        ? client.patch('/user_groups/{id}', { params: { path: { id: group.id } }, body })
        : client.post('/user_groups', { body });
    },
    { changes: [['user_groups']], onDone },
  );
  return (
    <FormDialog
      label={group ? t`Change ${group.name}` : t`New group`}
      submit={group ? <Trans>Save</Trans> : <Trans>Make the group</Trans>}
      act={save}
      onClose={onClose}
    >
      <TextField name="name" label={<Trans>Name</Trans>} defaultValue={group?.name ?? ''} autoFocus isRequired />
      <TextField
        name="description"
        label={<Trans>Description</Trans>}
        help={<Trans>Who belongs here, and what for.</Trans>}
        defaultValue={group?.description ?? ''}
        isLong
      />
    </FormDialog>
  );
}
