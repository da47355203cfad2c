import { Trans, useLingui } from '@lingui/react/macro';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { CheckField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { NewPasswordField } from '../../parts/form/new-password-field.tsx';
import { nameOf } from '../people/people-view.ts';
import type { User } from '../queries.ts';

type PasswordDialogProps = { user: User; onClose: () => void; onDone: (done: string) => void };

/** Sets the password of another person. */
export function PasswordDialog({ user, onClose, onDone }: PasswordDialogProps) {
  const { t } = useLingui();
  const name = nameOf(user);
  const save = useAct(
    ({ password, keep_sessions }: Record<string, string>) =>
      client.patch('/users/{id}', {
        params: { path: { id: user.id } },
        body: { user: { password: password ?? '', keep_sessions: keep_sessions === 'on' } },
      }),
    { changes: [['users']], onDone: () => onDone(t`${name} has the new password.`) },
  );
  return (
    <FormDialog
      label={t`Set a password for ${name}`}
      submit={<Trans>Set the password</Trans>}
      act={save}
      onClose={onClose}
    >
      <p>
        <Trans>
          Better they do it: “Forgot your password?” on the log-in page sends them a link that only they get.
        </Trans>
      </p>
      <NewPasswordField name="password" autoFocus />
      <CheckField
        name="keep_sessions"
        label={<Trans>Let them stay signed in</Trans>}
        help={<Trans>Otherwise all their sessions and tokens end.</Trans>}
      />
    </FormDialog>
  );
}
