// A user who is logged in gives their password once more. Guessing it counts with the log-ins.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { networkOf } from '@almanac/service-kit/http/client-address';
import { type Actor, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Problem } from '@almanac/service-kit/problems';
import { recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { ownAccountKey, unknownDeviceKeys } from '../security/log-in-keys.ts';
import type { ThrottleKey } from '../security/throttle.ts';

/** The problem of a wrong password in this attribute. */
export const wrongPassword = (field: string): Problem => ({
  code: 'invalid',
  message: 'Current password is wrong',
  field,
});

type Checked = { id: number; email_key: string; password_hash: string | null };

/** The acts in the audit log are `….throttled` and `….failed`. */
type Given = { password: string; for: 'password_change' | 'session_confirmation' };

const fieldOf = { password_change: 'current_password', session_confirmation: 'password' } as const;

/**
 * Throws 422 when it is not the user's password, and 429 after several wrong ones. Counted before
 * the password is checked; otherwise concurrent tries would all pass.
 */
export async function requireCurrentPassword(
  ctx: IdentityContext,
  actor: Actor,
  { id, email_key, password_hash }: Checked,
  given: Given,
): Promise<void> {
  const address = actor.address ?? 'unknown';
  const keys: ThrottleKey[] = [
    ...unknownDeviceKeys(ownAccountKey(actor.accountId, email_key), address),
    { rule: 'logInNetwork', key: networkOf(address) },
  ];
  const act = { resource_type: 'user', resource_id: id };
  const waitSeconds = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (waitSeconds > 0) {
    ctx.logger.warn({ account_id: actor.accountId, user_id: id, address, for: given.for }, 'a password is throttled');
    // Many throttled tries must not fill the audit log.
    if (await ctx.throttle.isFirstInMinute(`${given.for}.throttled|${id}`))
      await recordEntry(ctx.prisma, auditEntry(actor, { ...act, action: `${given.for}.throttled`, result: 'refused' }));
    throw new ServiceError(
      'too_many_requests',
      { code: 'too_many_requests', message: 'The current password was wrong several times; wait a while.' },
      { headers: { 'Retry-After': String(waitSeconds) } },
    );
  }
  if (!(await ctx.passwords.verify(given.password, password_hash))) {
    await recordEntry(ctx.prisma, auditEntry(actor, { ...act, action: `${given.for}.failed`, result: 'failed' }));
    throw validationFailed(wrongPassword(fieldOf[given.for]));
  }
  await ctx.throttle.clear(keys);
}
