// Grant refresh_token: each use returns a new token; reuse of a replaced one revokes its family
// (RFC 6749, 6; RFC 9700, 4.14).

import { commonScopes, grantScopes } from '../tokens/scopes.ts';
import { databaseNow, transact } from '../transaction.ts';
import { tokenResponse } from './access-tokens.ts';
import type { Grant } from './grant.ts';
import { invalidGrant, OAuthError } from './oauth-error.ts';
import {
  addPair,
  confirmToken,
  consumeToken,
  extendFamily,
  familyExpiry,
  findRefreshToken,
  mayHaveTokens,
  revokeFamily,
} from './token-families.ts';

const endedSentence = {
  person: 'The grant has ended: the user has to log in again.',
  service: 'The refresh token has ended: an administrator has to issue a new one.',
} as const;

/** The grant refresh_token. */
export const refreshToken: Grant = async (ctx, { client, parameters, origin }) => {
  const token = await findRefreshToken(ctx, client, parameters.get('refresh_token'));
  if (!token) throw invalidGrant();
  const { family } = token;
  const isService = family.user.user_type === 'service';
  if (token.used_at) return reused();
  if (family.revoked_at || !mayHaveTokens(family.user, client)) throw invalidGrant();
  // At most the scopes that the user allowed and that the application still has.
  const held = commonScopes(family.scope, client.scopes);
  const scope = held && grantScopes(held, parameters.find('scope'));
  if (scope === undefined)
    throw new OAuthError('invalid_scope', 'The scope is unknown or wider than what was granted.');

  const pair = await transact(ctx, async (tx) => {
    if (!(await extendFamily(ctx, tx, family))) return 'revoked';
    const now = await databaseNow(tx);
    if (familyExpiry(ctx, family) <= now) return 'ended';
    const isTaken = isService ? await confirmToken(tx, token) : await consumeToken(tx, token.id);
    if (!isTaken) return token.expires_at > now ? 'reused' : 'expired';
    const parent = isService ? { parent_id: token.id } : {};
    return addPair(ctx, tx, { family, ...parent, client, user_id: family.user_id, scope });
  });
  if (pair === 'reused') return reused();
  if (pair === 'ended') throw new OAuthError('invalid_grant', endedSentence[isService ? 'service' : 'person']);
  if (pair === 'revoked' || pair === 'expired') throw invalidGrant();
  return tokenResponse(ctx, pair.access, pair.refreshToken);

  async function reused(): Promise<never> {
    await revokeFamily(ctx, family.id, 'refresh_reuse', origin);
    throw invalidGrant();
  }
};
