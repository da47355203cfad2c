// Mailed links with which a user sets a password: one secret each, kept as its digest, used once. The secret is made when the mail
// is sent, so that it waits in no queue.
import { notFound } from '@almanac/service-kit/errors';
import type { IdentityContext } from './context.ts';
import { after, databaseNow } from './database.ts';
import { digestOf, newSecret } from './digest.ts';

export const linkPurposes = ['invitation', 'password_reset'] as const;
export type LinkPurpose = (typeof linkPurposes)[number];

const lifetimeSeconds = { invitation: 7 * 86_400, password_reset: 3_600 } as const satisfies Record<
  LinkPurpose,
  number
>;

/** Makes a link for a user of the account; not found when there is nobody (any more) who needs it. */
export async function createPasswordLink(
  ctx: IdentityContext,
  accountId: number,
  { user_id, purpose }: { user_id: number; purpose: string },
): Promise<{ url: string; expires_at: string }> {
  const known = linkPurposes.find((each) => each === purpose);
  const wanted = { invitation: 'invited', password_reset: 'active' } as const;
  const user =
    known &&
    (await ctx.prisma.user.findFirst({
      where: { id: user_id, account_id: accountId, status: wanted[known], account: { status: 'active' } },
      select: { id: true },
    }));
  if (!user) throw notFound('User');
  const token = newSecret();
  const expires_at = after(await databaseNow(ctx.prisma), lifetimeSeconds[known]);
  await ctx.prisma.password_link.create({
    data: { account_id: accountId, user_id, purpose: known, digest: digestOf(token), expires_at },
  });
  return { url: `${ctx.config.common.publicUrl}/oauth/password?token=${token}`, expires_at: expires_at.toISOString() };
}
