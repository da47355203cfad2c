// Mailed links with which a user sets a password. Each has a secret, stored as a digest, and works
// once. The secret is created when the mail is sent, so that no queue holds it.

import { notFound } from '@almanac/service-kit/errors';
import { auditEntry } from '@almanac/service-kit/messaging/audit';
import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { requestMail } from '../mails/mail-requests.ts';
import { revokeFamilies } from '../oauth/token-families.ts';
import { digestOf, newSecret } from '../security/digest.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { addSeconds, type Database, databaseNow, type Transaction, transact } from '../transaction.ts';

export const linkPurposes = ['invitation', 'password_reset'] as const;
export type LinkPurpose = (typeof linkPurposes)[number];

const lifetimeSeconds = { invitation: 7 * 86_400, password_reset: 3_600 } as const satisfies Record<
  LinkPurpose,
  number
>;

// The user's status that a link needs, on creation and on use: an invitation ends with the first
// password.
const requiredStatus = { invitation: 'invited', password_reset: 'active' } as const satisfies Record<
  LinkPurpose,
  string
>;

/** The number of links of a user that work at the same time; one more ends the oldest. */
export const maxOpenLinks = 5;

/**
 * Creates a link for a user of the account; not found when the user doesn't exist or needs no link.
 */
export async function createPasswordLink(
  ctx: IdentityContext,
  accountId: number,
  { user_id, purpose }: { user_id: number; purpose: string },
): Promise<{ url: string; expires_at: string }> {
  const known = linkPurposes.find((each) => each === purpose);
  if (!known) throw notFound('User');
  return transact(ctx, (tx) => insertLink(ctx, tx, { account_id: accountId, user_id, purpose: known }));
}

type NewLink = { account_id: number; user_id: number; purpose: LinkPurpose };

/** Creates a link in the caller's transaction; not found when the user's status needs none. */
export async function insertLink(
  ctx: IdentityContext,
  tx: Transaction,
  { account_id, user_id, purpose }: NewLink,
): Promise<{ url: string; expires_at: string }> {
  // Locks the user's row, so that links created concurrently are counted.
  const [user] = await tx.$queryRaw<{ id: number }[]>`
    select u.id from "user" u join account a on a.id = u.account_id
    where u.id = ${user_id} and u.account_id = ${account_id} and u.user_type = 'person'
      and u.status = ${requiredStatus[purpose]} and a.status = 'active'
    for no key update of u`;
  if (!user) throw notFound('User');
  await closeLinks(tx, user_id, maxOpenLinks - 1);
  const token = newSecret();
  const expires_at = addSeconds(await databaseNow(tx), lifetimeSeconds[purpose]);
  await tx.password_link.create({ data: { account_id, user_id, purpose, digest: digestOf(token), expires_at } });
  return { url: `${ctx.config.common.publicUrl}/oauth/password?token=${token}`, expires_at: expires_at.toISOString() };
}

/** Ends a user's open links except the newest `keep`. */
export async function closeLinks(db: Database, userId: number, keep = 0): Promise<void> {
  await db.$executeRaw`
    update password_link set used_at = now()
    where user_id = ${userId} and used_at is null and id not in (
      select id from password_link where user_id = ${userId} and used_at is null order by id desc limit ${keep}::int)`;
}

/** The user that a link is for. */
export type LinkOwner = {
  id: number;
  account_id: number;
  email: string;
  first_name: string;
  last_name: string;
  account: { name: string };
};

/**
 * The user that a link is for; undefined when it is unknown, used, expired, or its user lacks the
 * status.
 */
export async function findLinkOwner(ctx: IdentityContext, token: string): Promise<LinkOwner | undefined> {
  const link = await ctx.prisma.password_link.findFirst({
    where: { digest: digestOf(token), used_at: null, expires_at: { gt: await databaseNow(ctx.prisma) } },
    select: {
      purpose: true,
      user: {
        select: {
          id: true,
          account_id: true,
          email: true,
          first_name: true,
          last_name: true,
          status: true,
          account: { select: { name: true, status: true } },
        },
      },
    },
  });
  // Prisma reads relations one after another, so a concurrently deleted one is missing despite the
  // type.
  if (!link?.user?.account || link.user.status !== requiredStatus[link.purpose as LinkPurpose]) return undefined;
  return link.user.account.status === 'active' ? link.user : undefined;
}

/** The link is unknown, used or expired, or its user was deleted or has another status. */
export class UnusableLink extends Error {}

/**
 * Sets the password of the link's user, makes the user active, and ends their sessions and other
 * links, in one transaction. A reset also revokes the tokens of applications, since another person
 * may have known the old password. Throws UnusableLink.
 */
export async function usePasswordLink(
  ctx: IdentityContext,
  token: string,
  password: string,
  origin: Origin,
): Promise<{ id: number; account_id: number }> {
  const password_hash = await ctx.passwords.hash(password);
  const user = await transact(ctx, async (tx) => {
    const now = await databaseNow(tx);
    // Of concurrent uses this statement lets one win.
    const [link] = await tx.password_link.updateManyAndReturn({
      where: { digest: digestOf(token), used_at: null, expires_at: { gt: now } },
      data: { used_at: now },
      select: { user_id: true, purpose: true },
    });
    if (!link) throw new UnusableLink();
    const purpose = link.purpose as LinkPurpose;
    const [user] = await tx.user.updateManyAndReturn({
      where: { id: link.user_id, status: requiredStatus[purpose], account: { status: 'active' } },
      data: { password_hash, status: 'active' },
      select: { id: true, account_id: true },
    });
    if (!user) throw new UnusableLink();
    await endOldAccess(ctx, tx, user.id, purpose, origin.requestId);
    const act = { action: 'password.changed', resource_type: 'user', resource_id: user.id, after: { by: purpose } };
    await recordEntry(tx, auditEntry({ accountId: user.account_id, userId: user.id, ...origin }, act));
    const mail = { account_id: user.account_id, template: 'password_changed', user_ids: [user.id] } as const;
    await requestMail(tx, mail, origin.requestId);
    return user;
  });
  ctx.logger.info({ account_id: user.account_id, user_id: user.id }, 'password set');
  return user;
}

async function endOldAccess(
  ctx: IdentityContext,
  tx: Transaction,
  userId: number,
  purpose: LinkPurpose,
  requestId: string,
): Promise<void> {
  await endSessions(tx, { user_id: userId }, requestId);
  await closeLinks(tx, userId);
  if (purpose === 'password_reset') await revokeFamilies(ctx, tx, { user_id: userId }, 'password_reset', requestId);
}
