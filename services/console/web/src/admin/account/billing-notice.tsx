import { Trans } from '@lingui/react/macro';
import type { Schemas } from '../../api/client.ts';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { billingState } from './billing-state.ts';

/** What an overdue payment or an ended plan means for the account; nothing when all is paid. */
export function BillingNotice({ account }: { account: Schemas['Account'] }) {
  const state = billingState(account, Date.now());
  if (state.kind === 'current') return null;
  if (state.kind === 'grace')
    return (
      <Notice kind="warning">
        <Trans>
          A payment is overdue. All works until <Time instant={state.until} />; after that, data and settings can only
          be read.
        </Trans>
      </Notice>
    );
  return (
    <Notice kind="bad">
      {state.kind === 'blocked' ? (
        <Trans>
          A payment is overdue. Since <Time instant={state.since} /> data and settings can only be read.
        </Trans>
      ) : (
        <Trans>The plan is cancelled: data and settings can only be read.</Trans>
      )}{' '}
      <Trans>Nothing is deleted, and writing works again as soon as the payment arrives.</Trans>
    </Notice>
  );
}
