import { Trans, useLingui } from '@lingui/react/macro';
import type { QueryKey } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { LicenseField } from '../people/license-field.tsx';
import { nameOf } from '../people/people-view.ts';
import type { User } from '../queries.ts';

type EditDialogProps = { user: User; changes: QueryKey[]; onClose: () => void; onDone: (done: string) => void };

/** Changes the name, the address and the licence of a user. */
export function EditDialog({ user, changes, onClose, onDone }: EditDialogProps) {
  const { t } = useLingui();
  const name = nameOf(user);
  const save = useAct(
    ({ license_type, ...values }: Record<string, string>) =>
      client.patch('/users/{id}', {
        params: { path: { id: user.id } },
        body: { user: { ...values, license_type: license_type as User['license_type'] } },
      }),
    { changes, onDone: (saved) => onDone(t`${nameOf(saved)} is changed.`) },
  );
  return (
    <FormDialog label={t`Change ${name}`} submit={<Trans>Save</Trans>} act={save} onClose={onClose}>
      {user.user_type === 'person' && (
        <TextField
          name="email"
          type="email"
          label={<Trans>E-mail</Trans>}
          help={<Trans>A new address ends the links that were sent to the old one.</Trans>}
          defaultValue={user.email}
          isRequired
        />
      )}
      <TextField name="first_name" label={<Trans>First name</Trans>} defaultValue={user.first_name} autoFocus />
      <TextField name="last_name" label={<Trans>Last name</Trans>} defaultValue={user.last_name} />
      <LicenseField defaultValue={user.license_type} />
    </FormDialog>
  );
}
