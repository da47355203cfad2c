import { Trans } from '@lingui/react/macro';
import { Button } from '../parts/button.tsx';
import { useSignOut } from './use-sign-out.tsx';

export function SignOutButton() {
  const { start, isPending, dialog } = useSignOut();
  return (
    <>
      <Button onPress={start} isDisabled={isPending}>
        <Trans>Sign out</Trans>
      </Button>
      {dialog}
    </>
  );
}
