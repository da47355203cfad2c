// A way back for a user who can't log in nor read mails, such as a locked-out administrator: an
// operator gets the link that a mail would bring.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import { recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../mails/email-address.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { anyAccountKey, ownAccountKey, unknownDeviceKeys } from '../security/log-in-keys.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { transact } from '../transaction.ts';
import { insertLink } from './password-links.ts';

/**
 * Creates a link with which the user of this address sets a password, and clears the waits after
 * wrong passwords. With `end_sessions` sessions and tokens of applications end at once.
 */
export async function resetPassword(
  ctx: IdentityContext,
  call: CallContext,
  { email, end_sessions }: { email: string; end_sessions: boolean },
): Promise<{ url: string; expires_at: string }> {
  const { accountId: account_id, requestId } = call;
  const user = await findUser(ctx, account_id, email);
  const link = await transact(ctx, async (tx) => {
    // Sessions first: a consent locks its session's row, so `revokeFamilies` finds its code.
    if (end_sessions) {
      await endSessions(tx, { user_id: user.id }, requestId);
      await revokeFamilies(ctx, tx, { user_id: user.id }, 'password_reset', requestId);
    }
    const purpose = user.status === 'invited' ? 'invitation' : 'password_reset';
    const made = await insertLink(ctx, tx, { account_id, user_id: user.id, purpose });
    const after = { by: 'operator', ended_sessions: end_sessions };
    const act = { action: 'password_reset.requested', resource_type: 'user', resource_id: user.id, after };
    await recordEntry(tx, auditEntry({ accountId: account_id, requestId }, act));
    return made;
  });
  await clearWaits(ctx, user);
  return link;
}

type User = { id: number; account_id: number; email_key: string; status: string };

async function findUser(ctx: IdentityContext, accountId: number, email: string): Promise<User> {
  const account = await ctx.prisma.account.findUnique({ where: { id: accountId }, select: { status: true } });
  if (!account) throw notFound('Account');
  if (account.status !== 'active')
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `Account ${accountId} is ${account.status}.`,
    });
  const user = await ctx.prisma.user.findFirst({
    where: { account_id: accountId, email_key: emailKey(email.replaceAll('\0', '\ufffd')) },
    select: { id: true, account_id: true, email_key: true, status: true },
  });
  if (!user) throw notFound('User');
  if (user.status === 'suspended')
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'The user is suspended: an administrator of the account has to activate them.',
    });
  return user;
}

// The longest wait with its counter.
const waitMinutes = 30;
const maxAddresses = 200;

// Counters have hashed keys with the address of the try; the audit log knows the addresses. A
// browser that sets a password by a link gets a counter of its own.
async function clearWaits(ctx: IdentityContext, user: User): Promise<void> {
  const tries = await ctx.prisma.$queryRaw<{ address: string }[]>`
    select distinct address from audit_event
    where account_id = ${user.account_id} and user_id = ${user.id} and action in ('login.failed', 'login.throttled')
      and address is not null and occurred_at > now() - make_interval(mins => ${waitMinutes}::int)
    limit ${maxAddresses}::int`;
  const throttleKeys = [ownAccountKey(user.account_id, user.email_key), anyAccountKey(user.id)];
  const keys = throttleKeys.flatMap((key) => tries.flatMap(({ address }) => unknownDeviceKeys(key, address)));
  await ctx.throttle.clear([...keys, { rule: 'resetTo', key: user.email_key }]);
}
