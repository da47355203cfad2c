import { Trans } from '@lingui/react/macro';
import { isSignedOut } from '../../api/client.ts';

/** Leads to the log-in in another tab: what is entered here stays. */
export function SignedOut({ error }: { error: unknown }) {
  if (!isSignedOut(error)) return null;
  return (
    <p>
      <Trans>
        <a href="/oauth/login?return_to=/console/" target="_blank" rel="noreferrer">
          Sign in again in another tab
        </a>
        , then come back: what you have entered stays here.
      </Trans>
    </p>
  );
}
