// Limits how often a user, and a mailbox, is invited: also when the user is deleted and created
// again.
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { IdentityContext } from '../context.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import type { Transaction } from '../transaction.ts';
import { emailKey } from './email-address.ts';

type Invited = {
  account_id: number;
  email: string;
  /** Set when the invitation of an existing user is sent again. */
  user_id?: number;
};

/**
 * Counts an invitation; throws 429 when its mailbox or its user got a few within the hour. It
 * counts in the transaction that requests the mail, so a call that fails counts nothing.
 */
export async function throttleInvitation(
  ctx: IdentityContext,
  tx: Transaction,
  { account_id, email, user_id }: Invited,
): Promise<void> {
  const throttle = ctx.throttle.within(prismaSql(tx));
  const keys: ThrottleKey[] = [{ rule: 'invitationTo', key: `${account_id}:${emailKey(email)}` }];
  if (user_id !== undefined) keys.push({ rule: 'invitation', key: String(user_id) });
  let wait = 0;
  for (const key of keys) wait = Math.max(wait, (await throttle.waitSeconds([key])) || (await throttle.count([key])));
  const headers = { 'Retry-After': String(wait) };
  if (wait > 0)
    throw new ServiceError(
      'too_many_requests',
      { code: 'too_many_requests', message: 'The invitation was sent a few times already; wait a while.' },
      {
        headers,
      },
    );
}
