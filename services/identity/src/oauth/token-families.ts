// The chain of refresh tokens that one grant of one user makes. Only the newest works; using an older one again means that
// somebody copied it, and ends the whole chain with every access token that came of it.

import type { Client } from '../applications/clients.ts';
import { recordEntry } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, newSecret } from '../security/digest.ts';
import { revokeTokensOfFamilies } from '../tokens/revocations.ts';
import { after, databaseNow, type Transaction, transact } from '../transaction.ts';
import { type IssuedToken, issueAccessToken } from './access-tokens.ts';

export type IssuedPair = { access: IssuedToken; refreshToken: string };

/** When a family ends, however often it is used: so long after the user's yes. */
export function familyExpiry({ config }: IdentityContext, family: { created_at: Date }): Date {
  return after(family.created_at, config.grantSeconds);
}

// How long a token of a family may lie unused, but no longer than the family lives.
function idleExpiry(ctx: IdentityContext, now: Date, family: { created_at: Date }): Date {
  const [unused, end] = [after(now, ctx.config.refreshTokenSeconds), familyExpiry(ctx, family)];
  return new Date(Math.min(unused.getTime(), end.getTime()));
}

type NewFamily = { id: string; client: Client; user_id: number; allowed: string; scope: string };

/** Begins a family with its first pair of tokens. `allowed` is what the user said yes to, `scope` that of the access token. */
export async function createFamily(ctx: IdentityContext, tx: Transaction, family: NewFamily): Promise<IssuedPair> {
  const { id, client, user_id, allowed, scope } = family;
  const created_at = await databaseNow(tx.db);
  const expires_at = idleExpiry(ctx, created_at, { created_at });
  await tx.db.token_family.create({
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
  return addPair(ctx, tx, { family: { id, created_at }, client, user_id, scope });
}

type Family = { id: string; created_at: Date };
type NewPair = { family: Family; client: Client; user_id: number; scope: string };

/** Adds a pair of tokens to a family whose row the transaction holds; `scope` is that of the access token. */
export async function addPair(ctx: IdentityContext, tx: Transaction, pair: NewPair): Promise<IssuedPair> {
  const { family, ...grant } = pair;
  const access = await issueAccessToken(ctx, { ...grant, family_id: family.id });
  const refreshToken = newSecret();
  await tx.db.refresh_token.create({
    data: {
      family_id: family.id,
      digest: digestOf(refreshToken),
      access_token_id: access.jti,
      access_expires_at: access.expiresAt,
      expires_at: idleExpiry(ctx, await databaseNow(tx.db), family),
    },
  });
  return { access, refreshToken };
}

/**
 * Holds a living family's row until the end of the transaction and lets it live on from now. False: it is revoked. Whoever
 * revokes waits here, so no token is added to a family after it was revoked.
 */
export async function extendFamily(ctx: IdentityContext, tx: Transaction, family: Family): Promise<boolean> {
  const expires_at = idleExpiry(ctx, await databaseNow(tx.db), family);
  const { count } = await tx.db.token_family.updateMany({
    where: { id: family.id, revoked_at: null },
    data: { expires_at },
  });
  return count === 1;
}

/** Why a family ends before its time, and what the audit log calls it. */
const actions = {
  refresh_reuse: 'token.refresh_reused',
  code_replayed: 'token.code_replayed',
  revoked: 'token.revoked',
} as const;

/**
 * Ends a family: its refresh tokens, and every access token of it that may still be alive. Whoever comes later, and finds it ended,
 * changes nothing and is not recorded.
 */
export async function revokeFamily(
  ctx: IdentityContext,
  familyId: string,
  reason: keyof typeof actions,
  { requestId, address }: Origin,
): Promise<void> {
  await transact(ctx.prisma, async (tx) => {
    const [family] = await endFamilies(ctx, tx, { id: familyId }, reason, requestId);
    if (!family) return;
    const { id, account_id, user_id, application_id } = family;
    const result = reason === 'revoked' ? 'succeeded' : 'refused';
    const who = { account_id, user_id, application_id, address, request_id: requestId };
    await recordEntry(tx.db, { ...who, action: actions[reason], result, after: { family_id: id } });
  });
}

type Grantee = { user_id: number; application_id?: number };

/**
 * Ends every family of a user, or of one application's grants by him, in the caller's transaction, and the codes from which more
 * could come. Answers how many families there were.
 */
export async function revokeFamilies(
  ctx: IdentityContext,
  tx: Transaction,
  { user_id, application_id }: Grantee,
  reason: string,
  requestId: string,
): Promise<number> {
  // Codes first: an exchange under way holds its code's row, so the family it makes is seen below.
  await tx.db.authorization_code.deleteMany({ where: { user_id, application_id, used_at: null } });
  return (await endFamilies(ctx, tx, { user_id, application_id }, reason, requestId)).length;
}

async function endFamilies(
  ctx: IdentityContext,
  tx: Transaction,
  where: { id: string } | Grantee,
  reason: string,
  requestId: string,
) {
  const families = await tx.db.token_family.updateManyAndReturn({
    where: { ...where, revoked_at: null },
    data: { revoked_at: await databaseNow(tx.db), revoke_reason: reason },
    select: { id: true, account_id: true, user_id: true, application_id: true },
  });
  if (families.length === 0) return families;
  await revokeTokensOfFamilies(
    tx,
    families.map(({ id }) => id),
    reason,
    requestId,
  );
  for (const { id, ...whose } of families) ctx.logger.warn({ family_id: id, ...whose, reason }, 'token family revoked');
  return families;
}

/** A refresh token of this application, with its family and user; undefined for anything else. */
export async function findRefreshToken(ctx: IdentityContext, client: Client, text: string) {
  const token = await ctx.prisma.refresh_token.findUnique({
    where: { digest: digestOf(text) },
    include: { family: { include: { user: true } } },
  });
  // Relations are read one after the other: one that is deleted meanwhile is missing, whatever its type says.
  if (!token?.family?.user || token.family.application_id !== client.id) return undefined;
  return token;
}

/** True when the user may still have tokens of this application (contract, Tenant context). */
export function mayHaveTokens(user: { account_id: number; status: string }, client: Client): boolean {
  return user.status === 'active' && user.account_id === client.account_id;
}
