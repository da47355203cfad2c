// A user changes their own password. The current one is asked for, so that a token alone can't take
// the account over, and guessing it counts with the log-ins.
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { unknownUser } from '@almanac/service-kit/rights/rights';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { requestMail } from '../mails/mail-requests.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { requireCurrentPassword, wrongPassword } from '../passwords/current-password.ts';
import { closeLinks } from '../passwords/password-links.ts';
import { passwordProblem } from '../passwords/password-rules.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { transact } from '../transaction.ts';

type PasswordChange = { current_password: string; new_password: string };

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
  await requireCurrentPassword(ctx, call, user, { password: current_password, for: 'password_change' });
  const password_hash = await ctx.passwords.hash(new_password);
  await transact(ctx, async (tx) => {
    // False when another call has changed the password, or suspended the user, since the check.
    const where = { id, account_id: call.accountId, status: 'active', password_hash: user.password_hash };
    const { count } = await tx.user.updateMany({ where, data: { password_hash } });
    if (count === 0) throw validationFailed(wrongPassword('current_password'));
    // Sessions first: a consent locks its session's row, so `revokeFamilies` finds the code it has
    // created.
    await endSessions(tx, { user_id: id }, call.requestId);
    await revokeFamilies(ctx, tx, { user_id: id }, 'password_set', call.requestId);
    await closeLinks(tx, id);
    const act = { action: 'password.changed', resource_type: 'user', resource_id: id, after: { by: 'user' } };
    await recordAct(tx, call, act);
    const mail = { account_id: call.accountId, template: 'password_changed', user_ids: [id] } as const;
    await requestMail(tx, mail, call.requestId);
  });
}
