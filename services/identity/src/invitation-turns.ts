// How often somebody is invited: nobody's mailbox is flooded from here, nor by deleting its user and making him anew.
import { ServiceError } from '@almanac/service-kit/errors';
import type { IdentityContext } from './context.ts';
import { emailKey } from './names.ts';
import type { ThrottleKey } from './throttle.ts';

type Invited = { account_id: number; email: string /** Of one who is there already. */; user_id?: number };

/** Counts an invitation; throws 429 when its mailbox, or its user, got a few within the hour. */
export async function takeInvitationTurn(ctx: IdentityContext, { account_id, email, user_id }: Invited): Promise<void> {
  const keys: ThrottleKey[] = [{ rule: 'invitationTo', key: `${account_id}:${emailKey(email)}` }];
  if (user_id !== undefined) keys.push({ rule: 'invitation', key: String(user_id) });
  const wait = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  const headers = { 'Retry-After': String(wait) };
  if (wait > 0)
    throw new ServiceError('too_many_requests', 'The invitation was sent a few times already; wait a while.', {
      headers,
    });
}
