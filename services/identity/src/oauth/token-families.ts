// A token family: the refresh tokens that follow one grant by one user. Reuse of a replaced one
// means that it was copied, and revokes the whole family with its access tokens.
//
// A person's token is replaced when it is used. A service user's is replaced when a token that was
// exchanged for it is used: until then it works again, for a program that lost the answer or can't
// store it (ADR 26).

import { randomUUID } from 'node:crypto';
import type { Client } from '../applications/clients.ts';
import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, newIdentifier, newSecret } from '../security/digest.ts';
import { revokeTokensOfFamilies } from '../tokens/revocations.ts';
import { addSeconds, databaseNow, type Transaction, transact } from '../transaction.ts';
import { type IssuedToken, issueAccessToken } from './access-tokens.ts';

/** A new access token with its refresh token. */
export type IssuedPair = { access: IssuedToken; refreshToken: string };

type Lifetime = { created_at: Date; ends_at: Date | null };

/**
 * When a family ends, however often it is used: `grantSeconds` after the user's consent, or when
 * the administrator chose for a service user.
 */
export function familyExpiry({ config }: IdentityContext, { created_at, ends_at }: Lifetime): Date {
  return ends_at ?? addSeconds(created_at, config.grantSeconds);
}

// When an unused token of a family expires: at the latest with the family. Those of service users
// wait for programs that run rarely.
function idleExpiry(ctx: IdentityContext, now: Date, family: Lifetime): Date {
  if (family.ends_at) return family.ends_at;
  const [unused, end] = [addSeconds(now, ctx.config.refreshTokenSeconds), familyExpiry(ctx, family)];
  return new Date(Math.min(unused.getTime(), end.getTime()));
}

type NewFamily = { id: string; client: Client; user_id: number; allowed: string; scope: string };

/**
 * Creates a family with its first tokens. The user consented to `allowed`; `scope` is the access
 * token's.
 */
export async function createFamily(ctx: IdentityContext, tx: Transaction, family: NewFamily): Promise<IssuedPair> {
  const { id, client, user_id, allowed, scope } = family;
  const created_at = await databaseNow(tx);
  const expires_at = idleExpiry(ctx, created_at, { created_at, ends_at: null });
  await tx.token_family.create({
    data: {
      id,
      account_id: client.account_id,
      application_id: client.id,
      user_id,
      scope: allowed,
      created_at,
      expires_at,
    },
  });
  return addPair(ctx, tx, { family: { id, created_at, ends_at: null }, client, user_id, scope });
}

type NewServiceFamily = { client: { id: number; account_id: number }; user_id: number; scope: string; ends_at: Date };

/** Creates a family of a service user with its first refresh token, without an access token. */
export async function createServiceFamily(tx: Transaction, { client, ...grant }: NewServiceFamily) {
  const created_at = await databaseNow(tx);
  const owner = { account_id: client.account_id, application_id: client.id };
  const { id: family_id } = await tx.token_family.create({
    data: { ...grant, ...owner, id: randomUUID(), created_at, expires_at: grant.ends_at },
    select: { id: true },
  });
  const refreshToken = newSecret();
  const { id } = await tx.refresh_token.create({
    data: {
      family_id,
      digest: digestOf(refreshToken),
      access_token_id: newIdentifier(), // of no token
      access_expires_at: created_at,
      created_at,
      expires_at: grant.ends_at,
    },
    select: { id: true },
  });
  return { id, created_at, refreshToken };
}

type Family = Lifetime & { id: string };
type NewPair = {
  family: Family;
  /** The token that the pair is exchanged for, of a service user. */
  parent_id?: bigint;
  client: Client;
  user_id: number;
  scope: string;
};

/** Adds tokens to a family whose row the transaction has locked; `scope` is the access token's. */
export async function addPair(ctx: IdentityContext, tx: Transaction, pair: NewPair): Promise<IssuedPair> {
  const { family, parent_id, ...grant } = pair;
  const access = await issueAccessToken(ctx, { ...grant, family_id: family.id });
  const refreshToken = newSecret();
  await tx.refresh_token.create({
    data: {
      family_id: family.id,
      parent_id,
      digest: digestOf(refreshToken),
      access_token_id: access.jti,
      access_expires_at: access.expiresAt,
      expires_at: idleExpiry(ctx, await databaseNow(tx), family),
    },
  });
  return { access, refreshToken };
}

/**
 * Extends a family's expiry and locks its row; false when the family is revoked. A concurrent
 * revocation waits for the lock, so no token is added to a revoked family.
 */
export async function extendFamily(ctx: IdentityContext, tx: Transaction, family: Family): Promise<boolean> {
  const expires_at = idleExpiry(ctx, await databaseNow(tx), family);
  const { count } = await tx.token_family.updateMany({
    where: { id: family.id, revoked_at: null },
    data: { expires_at },
  });
  return count === 1;
}

/** The reasons for revoking one family, with the action in the audit log. */
const auditActions = {
  refresh_reuse: 'token.refresh_reused',
  code_replayed: 'token.code_replayed',
  revoked: 'token.revoked',
} as const;

/**
 * Revokes a family: its refresh tokens and all its access tokens. Revoking it again changes nothing
 * and records nothing.
 */
export async function revokeFamily(
  ctx: IdentityContext,
  familyId: string,
  reason: keyof typeof auditActions,
  { requestId, address }: Origin,
): Promise<void> {
  await transact(ctx, async (tx) => {
    const [family] = await endFamilies(ctx, tx, { id: familyId }, reason, requestId);
    if (!family) return;
    const { id, account_id, user_id, application_id } = family;
    const result = reason === 'revoked' ? 'succeeded' : 'refused';
    const actor = { account_id, user_id, application_id, address, request_id: requestId };
    await recordEntry(tx, { ...actor, action: auditActions[reason], result, after: { family_id: id } });
  });
}

/**
 * Marks a person's token as used; false when it is used or expired. Of concurrent uses one wins.
 */
export async function consumeToken(tx: Transaction, id: bigint): Promise<boolean> {
  const now = await databaseNow(tx);
  const { count } = await tx.refresh_token.updateMany({
    where: { id, used_at: null, expires_at: { gt: now } },
    data: { used_at: now },
  });
  return count === 1;
}

/**
 * Uses a service user's token, whose family the transaction has locked; false when it was replaced
 * or has expired. It replaces the token that it was exchanged for, with all others that were
 * exchanged for that.
 */
export async function confirmToken(
  tx: Transaction,
  token: { id: bigint; family_id: string; parent_id: bigint | null },
): Promise<boolean> {
  const { id, family_id, parent_id } = token;
  const now = await databaseNow(tx);
  const usable = { id, used_at: null, expires_at: { gt: now } };
  if ((await tx.refresh_token.count({ where: usable })) === 0) return false;
  if (parent_id !== null)
    await tx.refresh_token.updateMany({
      where: { family_id, used_at: null, id: { not: id }, OR: [{ id: parent_id }, { parent_id }] },
      data: { used_at: now },
    });
  return true;
}

type Grantee = { user_id: number; application_id?: number };

/**
 * Revokes every family of a user, or only those of one application, in the caller's transaction,
 * and deletes unused codes, which would create more. Returns the number of families.
 */
export async function revokeFamilies(
  ctx: IdentityContext,
  tx: Transaction,
  { user_id, application_id }: Grantee,
  reason: string,
  requestId: string,
): Promise<number> {
  // Codes first: a concurrent exchange has locked its code's row, so its family is found below.
  await tx.authorization_code.deleteMany({ where: { user_id, application_id, used_at: null } });
  return (await endFamilies(ctx, tx, { user_id, application_id }, reason, requestId)).length;
}

/** Revokes these families with their access tokens, in the caller's transaction; returns them. */
export async function endFamilies(
  ctx: IdentityContext,
  tx: Transaction,
  where: { id: string } | Grantee,
  reason: string,
  requestId: string,
) {
  const families = await tx.token_family.updateManyAndReturn({
    where: { ...where, revoked_at: null },
    data: { revoked_at: await databaseNow(tx), revoke_reason: reason },
    select: { id: true, account_id: true, user_id: true, application_id: true },
  });
  if (families.length === 0) return families;
  await revokeTokensOfFamilies(
    tx,
    families.map(({ id }) => id),
    reason,
    requestId,
  );
  for (const { id, ...owner } of families) ctx.logger.warn({ family_id: id, ...owner, reason }, 'token family revoked');
  return families;
}

/** A refresh token of this application, with its family and user; undefined for anything else. */
export async function findRefreshToken(ctx: IdentityContext, client: Client, text: string) {
  const token = await ctx.prisma.refresh_token.findUnique({
    where: { digest: digestOf(text) },
    include: { family: { include: { user: true } } },
  });
  // Prisma reads relations one after another, so a concurrently deleted one is missing despite the
  // type.
  if (!token?.family?.user || token.family.application_id !== client.id) return undefined;
  return token;
}

/**
 * True when the user may have tokens of this application: active, and of its account. A service
 * user's long-lived token is worthless without the secret of a confidential application.
 */
export function mayHaveTokens(
  user: { account_id: number; status: string; user_type: string },
  client: Client,
): boolean {
  const mayActThrough = user.user_type === 'person' || client.confidential;
  return mayActThrough && user.status === 'active' && user.account_id === client.account_id;
}
