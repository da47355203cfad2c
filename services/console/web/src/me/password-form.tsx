import { Trans, useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import { client, signIn } from '../api/client.ts';
import { useAct } from '../api/use-act.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/form/fields.tsx';
import { FormDialog } from '../parts/form/form-dialog.tsx';
import { NewPasswordField } from '../parts/form/new-password-field.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';
import styles from './me.module.css';

/** Changes one's own password. That ends all sessions, this one too: the log-in comes next. */
export function PasswordForm() {
  const { t } = useLingui();
  const [isOpen, setIsOpen] = useState(false);
  const save = useAct(
    ({ current_password = '', new_password = '' }: Record<string, string>) =>
      client.put('/me/password', { body: { current_password, new_password } }),
    { changes: [] },
  );
  return (
    <>
      <p className={styles.text}>
        <Trans>A new password signs you out everywhere, and ends what applications got in your name.</Trans>
      </p>
      <Button onPress={() => setIsOpen(true)}>
        <Trans>Change password…</Trans>
      </Button>
      {isOpen && !save.isSuccess && (
        <FormDialog
          label={t`Change your password`}
          submit={<Trans>Change password and sign in again</Trans>}
          act={save}
          onClose={() => setIsOpen(false)}
        >
          <TextField
            name="current_password"
            type="password"
            label={<Trans>Current password</Trans>}
            autoComplete="current-password"
            autoFocus
            isRequired
          />
          <NewPasswordField name="new_password" />
        </FormDialog>
      )}
      {save.isSuccess && (
        <ModalDialog label={t`Your password is changed`} onClose={signIn} isKept>
          <p className={styles.text}>
            <Trans>All your sessions have ended. Sign in with the new password.</Trans>
          </p>
          <Button kind="primary" onPress={signIn}>
            <Trans>Sign in</Trans>
          </Button>
        </ModalDialog>
      )}
    </>
  );
}
