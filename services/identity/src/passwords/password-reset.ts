// Requests a mail with a link to set a new password. Known and unknown addresses get the same
// answer after the same time.

import { networkOf } from '@almanac/service-kit/http/client-address';
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Client } from '../applications/clients.ts';

import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../mails/email-address.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import { announceAll, databaseNow, transact } from '../transaction.ts';

/** An address may belong to users of several accounts. */
const maxMails = 10;

/**
 * Requests a mail to each user with the address: in the application's account or, without an
 * application, in all accounts. Returns the seconds to wait when throttled, else 0.
 */
export async function requestPasswordReset(
  ctx: IdentityContext,
  origin: Origin,
  { email, client }: { email: string; client: Client | undefined },
): Promise<number> {
  const email_key = emailKey(email.replaceAll('\0', '\ufffd')).slice(0, 300);
  // Keyed by address, not by account: the mailbox is one.
  const keys: ThrottleKey[] = [
    { rule: 'resetFrom', key: `${email_key}|${origin.address}` },
    { rule: 'resetTo', key: email_key },
    { rule: 'resetNetwork', key: networkOf(origin.address) },
  ];
  const waitSeconds = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (waitSeconds > 0) {
    ctx.logger.warn({ address: origin.address, application_id: client?.id }, 'password reset throttled');
    return waitSeconds;
  }
  await transact(ctx, async (tx) => {
    const users = await tx.user.findMany({
      where: {
        email_key,
        user_type: 'person',
        status: 'active',
        account: { id: client?.account_id, status: 'active' },
      },
      select: { id: true, account_id: true },
      orderBy: { id: 'asc' },
      take: maxMails,
    });
    const mails = users.map(({ id, account_id }) => ({
      account_id,
      template: 'password_reset',
      user_ids: [id],
      values: {},
    }));
    // An unknown address costs as many statements, one of them a write, so the time reveals
    // nothing.
    if (mails.length > 0) await announceAll(tx, origin, 'mail.requested', mails);
    else await databaseNow(tx);
    const noUser = { id: undefined, account_id: client?.account_id ?? 0 };
    for (const { id, account_id } of users.length > 0 ? users : [noUser]) {
      const actor = { accountId: account_id, userId: id, applicationId: client?.id, ...origin };
      const result = id === undefined ? 'failed' : 'succeeded';
      await recordEntry(tx, auditEntry(actor, { action: 'password_reset.requested', result }));
    }
  });
  return 0;
}
