import { Trans } from '@lingui/react/macro';
import { TextField } from './fields.tsx';

/** A new password, with what it has to be like. */
export function NewPasswordField({ name, autoFocus = false }: { name: string; autoFocus?: boolean }) {
  return (
    <TextField
      name={name}
      type="password"
      label={<Trans>New password</Trans>}
      help={<Trans>Of 12 to 200 characters.</Trans>}
      autoComplete="new-password"
      autoFocus={autoFocus}
      isRequired
    />
  );
}
