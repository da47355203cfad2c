import { Trans, useLingui } from '@lingui/react/macro';
import { useEffect, useState } from 'react';
import { askForPasswordBy, givePassword } from '../api/password-again.ts';
import { useAct } from '../api/use-act.ts';
import { TextField } from '../parts/form/fields.tsx';
import { Form } from '../parts/form/form.tsx';
import { ModalDialog } from '../parts/modal-dialog.tsx';

/** Asks for the password whenever an act takes it; the act waits for it. */
export function PasswordDialog() {
  const { t } = useLingui();
  const [answer, setAnswer] = useState<(isGiven: boolean) => void>();
  useEffect(() => askForPasswordBy(() => new Promise((resolve) => setAnswer(() => resolve))), []);
  const end = (isGiven: boolean) => {
    answer?.(isGiven);
    setAnswer(undefined);
  };
  const give = useAct(givePassword, { changes: [], onDone: () => end(true) });
  if (!answer) return null;
  return (
    <ModalDialog label={t`Your password, please`} onClose={() => end(false)}>
      <Form
        error={give.error}
        isPending={give.isPending}
        submit={<Trans>Go on</Trans>}
        onCancel={() => end(false)}
        onSubmit={({ password }) => give.mutate(password ?? '')}
      >
        <p>
          <Trans>This act has consequences, and you have not typed your password for a while.</Trans>
        </p>
        <TextField
          name="password"
          type="password"
          label={<Trans>Password</Trans>}
          autoComplete="current-password"
          autoFocus
          isRequired
        />
      </Form>
    </ModalDialog>
  );
}
