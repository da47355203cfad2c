// Grant authorization_code: exchanges a user's code for a pair of tokens, once (RFC 6749, 4.1;
// PKCE, RFC 7636).

import { createHash, randomUUID } from 'node:crypto';
import type { Client } from '../applications/clients.ts';

import { isRegistered } from '../applications/redirect-uris.ts';
import { digestOf, newSecret, sameDigest } from '../security/digest.ts';
import { commonScopes } from '../tokens/scopes.ts';
import { addSeconds, type Database, databaseNow, transact } from '../transaction.ts';
import { tokenResponse } from './access-tokens.ts';
import type { Grant } from './grant.ts';
import { invalidGrant } from './oauth-error.ts';
import { createFamily, mayHaveTokens, revokeFamily } from './token-families.ts';

const lifetimeSeconds = 60;

/** What a code stands for. */
export type NewCode = {
  client: Client;
  user_id: number;
  redirect_uri: string;
  scope: string;
  code_challenge: string | undefined;
};

/** Creates a code after the user's consent. */
export async function createCode(db: Database, { client, ...attributes }: NewCode): Promise<string> {
  const code = newSecret();
  const expires_at = addSeconds(await databaseNow(db), lifetimeSeconds);
  await db.authorization_code.create({
    data: { ...attributes, application_id: client.id, family_id: randomUUID(), digest: digestOf(code), expires_at },
  });
  return code;
}

/** The grant authorization_code. */
export const authorizationCode: Grant = async (ctx, { client, parameters, origin }) => {
  const digest = digestOf(parameters.get('code'));
  const redirectUri = parameters.get('redirect_uri');
  const verifier = parameters.find('code_verifier');
  const code = await ctx.prisma.authorization_code.findUnique({ where: { digest }, include: { user: true } });
  // Another client's code stays usable for its owner. (A concurrently deleted user is missing.)
  if (!code?.user || code.application_id !== client.id || code.redirect_uri !== redirectUri) throw invalidGrant();
  if (code.used_at) return replayed();
  // The application may have changed since: the code grants no scope or address that it has lost.
  const scope = commonScopes(code.scope, client.scopes);
  if (!mayHaveTokens(code.user, client) || scope === undefined) throw invalidGrant();
  if (!isRegistered(client.redirect_uri, redirectUri)) throw invalidGrant();
  const isVerified = verifyChallenge(code.code_challenge, verifier, client.confidential);

  const pair = await transact(ctx, async (tx) => {
    const now = await databaseNow(tx);
    const { count } = await tx.authorization_code.updateMany({
      where: { id: code.id, used_at: null, expires_at: { gt: now } },
      data: { used_at: now },
    });
    if (count === 0) return (await isUsed(tx, code.id)) ? 'used' : 'expired';
    if (!isVerified) return 'unverified';
    return createFamily(ctx, tx, { id: code.family_id, client, user_id: code.user_id, allowed: code.scope, scope });
  });
  if (pair === 'used') return replayed();
  if (pair === 'expired' || pair === 'unverified') throw invalidGrant();
  return tokenResponse(ctx, pair.access, pair.refreshToken);

  // A replayed code has leaked, so the tokens that it was exchanged for are revoked.
  async function replayed(): Promise<never> {
    if (code) await revokeFamily(ctx, code.family_id, 'code_replayed', origin);
    throw invalidGrant();
  }
};

async function isUsed(db: Database, id: number): Promise<boolean> {
  const code = await db.authorization_code.findUnique({ where: { id }, select: { used_at: true } });
  return code?.used_at != null;
}

/**
 * PKCE: the verifier must match the challenge, and neither may be sent without the other. A public
 * application needs both, also when it was confidential at the time of the code's creation.
 */
function verifyChallenge(challenge: string | null, verifier: string | undefined, confidential: boolean): boolean {
  if (challenge === null) return confidential && verifier === undefined;
  if (verifier === undefined || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const expected = createHash('sha256').update(verifier).digest();
  return sameDigest(expected, Buffer.from(challenge, 'base64url'));
}
