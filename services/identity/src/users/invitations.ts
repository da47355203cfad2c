// Sending the invitation of a user who has no password yet again.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { findKeptAnswer, transactOnce } from '../idempotency.ts';
import { throttleInvitation } from '../mails/invitation-throttle.ts';
import { requestMail } from '../mails/mail-requests.ts';
import { requireAdministrator } from '../permissions/effective-permissions.ts';

import { userColumns } from './users.ts';

/**
 * Mails the invitation again, with a new link: 422 unless the user is invited, 429 when sent too
 * often.
 */
export async function sendInvitation(ctx: IdentityContext, call: CallContext, id: number, readBody: () => void) {
  const where = { id, account_id: call.accountId };
  const user = await ctx.prisma.user.findFirst({ where, select: userColumns });
  if (!user) throw notFound('User');
  await requireAdministrator(ctx, call);
  readBody();
  const answer = await findKeptAnswer(ctx, call);
  if (answer) return answer;
  if (user.status !== 'invited')
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `The user is ${user.status}, not invited.`,
      params: { state: user.status },
    });
  return transactOnce(ctx, call, async (tx) => {
    await throttleInvitation(ctx, tx, { account_id: call.accountId, email: user.email, user_id: id });
    await recordAct(tx, call, { action: 'user.invited', resource_type: 'user', resource_id: id });
    const mail = { account_id: call.accountId, template: 'invitation', user_ids: [id] } as const;
    await requestMail(tx, mail, call.requestId);
    return user;
  });
}
