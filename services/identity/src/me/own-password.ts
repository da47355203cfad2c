// A user changes their own password. The current one is asked for, so that a token alone can't take
// the account over, and guessing it counts with the log-ins.
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { networkOf } from '@almanac/service-kit/http/client-address';
import type { Problem } from '@almanac/service-kit/problems';
import { unknownUser } from '@almanac/service-kit/rights/rights';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { requestMail } from '../mails/mail-requests.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { closeLinks } from '../passwords/password-links.ts';
import { passwordProblem } from '../passwords/password-rules.ts';
import { ownAccountKey, unknownDeviceKeys } from '../security/log-in-keys.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import { transact } from '../transaction.ts';

type PasswordChange = { current_password: string; new_password: string };

const wrongPassword: Problem = {
  code: 'invalid',
  message: 'Current password is wrong',
  field: 'current_password',
};

/**
 * Sets the caller's password, and ends every session and every token of theirs, also the one of
 * this call: another person may know the old password. Throws 422 for a wrong current password, an
 * easy new one and a service user, 429 after several wrong ones.
 */
export async function changeOwnPassword(
  ctx: IdentityContext,
  call: CallContext,
  read: () => PasswordChange,
): Promise<void> {
  const id = requireUser(call);
  const user = await ctx.prisma.user.findFirst({ where: { id, account_id: call.accountId } });
  if (!user) throw unknownUser();
  const { current_password, new_password } = read();
  if (user.user_type === 'service')
    throw validationFailed({ code: 'not_allowed', message: 'A service user has no password.' });
  const easy = passwordProblem(new_password, user);
  if (easy !== undefined) throw validationFailed({ code: 'invalid', message: easy, field: 'new_password' });
  await requireCurrentPassword(ctx, call, user, current_password);
  const password_hash = await ctx.passwords.hash(new_password);
  await transact(ctx, async (tx) => {
    // False when another call has changed the password, or suspended the user, since the check.
    const where = { id, account_id: call.accountId, status: 'active', password_hash: user.password_hash };
    const { count } = await tx.user.updateMany({ where, data: { password_hash } });
    if (count === 0) throw validationFailed(wrongPassword);
    // Sessions first: a consent locks its session's row, so `revokeFamilies` finds the code it has
    // created.
    await tx.session.deleteMany({ where: { user_id: id } });
    await revokeFamilies(ctx, tx, { user_id: id }, 'password_set', call.requestId);
    await closeLinks(tx, id);
    const act = { action: 'password.changed', resource_type: 'user', resource_id: id, after: { by: 'user' } };
    await recordAct(tx, call, act);
    const mail = { account_id: call.accountId, template: 'password_changed', user_ids: [id] } as const;
    await requestMail(tx, mail, call.requestId);
  });
}

type Checked = { id: number; email_key: string; password_hash: string | null };

// Counted before the password is checked; otherwise concurrent tries would all pass.
async function requireCurrentPassword(
  ctx: IdentityContext,
  call: CallContext,
  { id, email_key, password_hash }: Checked,
  password: string,
): Promise<void> {
  const address = call.address ?? 'unknown';
  const keys: ThrottleKey[] = [
    ...unknownDeviceKeys(ownAccountKey(call.accountId, email_key), address),
    { rule: 'logInNetwork', key: networkOf(address) },
  ];
  const act = { resource_type: 'user', resource_id: id };
  const waitSeconds = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (waitSeconds > 0) {
    ctx.logger.warn({ account_id: call.accountId, user_id: id, address }, 'change of a password throttled');
    // Many throttled tries must not fill the audit log.
    if (await ctx.throttle.isFirstInMinute(`password_change.throttled|${id}`))
      await recordAct(ctx.prisma, call, { ...act, action: 'password_change.throttled', result: 'refused' });
    throw new ServiceError(
      'too_many_requests',
      { code: 'too_many_requests', message: 'The current password was wrong several times; wait a while.' },
      { headers: { 'Retry-After': String(waitSeconds) } },
    );
  }
  if (!(await ctx.passwords.verify(password, password_hash))) {
    await recordAct(ctx.prisma, call, { ...act, action: 'password_change.failed', result: 'failed' });
    throw validationFailed(wrongPassword);
  }
  await ctx.throttle.clear(keys);
}
