// The chain of refresh tokens that one grant of one user makes. Only the newest works; using an older one again means that
// somebody copied it, and ends the whole chain with every access token that came of it.
import type { Client } from '../applications.ts';
import type { IdentityContext } from '../context.ts';
import { after, databaseNow, type Transaction, transact } from '../database.ts';
import { digestOf, newSecret } from '../digest.ts';
import { revokeTokensOfFamilies } from '../revocations.ts';
import { type IssuedToken, issueAccessToken } from './access-tokens.ts';

export type IssuedPair = { access: IssuedToken; refreshToken: string };

type NewFamily = { id: string; client: Client; user_id: number; scope: string };

/** Begins a family with its first pair of tokens. */
export async function beginFamily(ctx: IdentityContext, tx: Transaction, family: NewFamily): Promise<IssuedPair> {
  const { id, client, user_id, scope } = family;
  const expires_at = after(await databaseNow(tx.db), ctx.config.refreshTokenSeconds);
  await tx.db.token_family.create({
    data: { id, account_id: client.account_id, application_id: client.id, user_id, scope, expires_at },
  });
  return addPair(ctx, tx, { ...family, family_id: id });
}

type NewPair = { family_id: string; client: Client; user_id: number; scope: string };

/** Adds a pair of tokens to a family whose row the transaction holds; `scope` is that of the access token. */
export async function addPair(ctx: IdentityContext, tx: Transaction, pair: NewPair): Promise<IssuedPair> {
  const access = await issueAccessToken(ctx, pair);
  const refreshToken = newSecret();
  await tx.db.refresh_token.create({
    data: {
      family_id: pair.family_id,
      digest: digestOf(refreshToken),
      access_token_id: access.jti,
      access_expires_at: access.expiresAt,
      expires_at: after(await databaseNow(tx.db), ctx.config.refreshTokenSeconds),
    },
  });
  return { access, refreshToken };
}

/**
 * Holds a living family's row until the end of the transaction and lets it live on from now. False: it is revoked. Whoever
 * revokes waits here, so no token is added to a family after it was revoked.
 */
export async function holdFamily(ctx: IdentityContext, tx: Transaction, familyId: string): Promise<boolean> {
  const expires_at = after(await databaseNow(tx.db), ctx.config.refreshTokenSeconds);
  const { count } = await tx.db.token_family.updateMany({
    where: { id: familyId, revoked_at: null },
    data: { expires_at },
  });
  return count === 1;
}

/** Ends a family: its refresh tokens, and every access token of it that may still be alive. */
export async function revokeFamily(
  ctx: IdentityContext,
  familyId: string,
  reason: string,
  requestId: string,
): Promise<void> {
  await transact(ctx.prisma, (tx) => endFamilies(ctx, tx, { id: familyId }, reason, requestId));
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
  return endFamilies(ctx, tx, { user_id, application_id }, reason, requestId);
}

async function endFamilies(
  ctx: IdentityContext,
  tx: Transaction,
  where: { id: string } | Grantee,
  reason: string,
  requestId: string,
): Promise<number> {
  const families = await tx.db.token_family.updateManyAndReturn({
    where: { ...where, revoked_at: null },
    data: { revoked_at: await databaseNow(tx.db), revoke_reason: reason },
    select: { id: true, account_id: true, user_id: true, application_id: true },
  });
  if (families.length === 0) return 0;
  await revokeTokensOfFamilies(
    tx,
    families.map(({ id }) => id),
    requestId,
  );
  for (const { id, ...whose } of families) ctx.logger.warn({ family_id: id, ...whose, reason }, 'token family revoked');
  return families.length;
}

/** True when the user may still have tokens of this application (contract, Tenant context). */
export function mayHaveTokens(user: { account_id: number; status: string }, client: Client): boolean {
  return user.status === 'active' && user.account_id === client.account_id;
}
