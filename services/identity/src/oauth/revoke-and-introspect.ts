// POST /oauth/revoke (RFC 7009) and POST /oauth/introspect (RFC 7662), both for a client's own
// tokens.

import type { Client } from '../applications/clients.ts';
import { recordEntry } from '../audit/audit-log.ts';
import { type Origin, readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { revoke } from '../tokens/revocations.ts';
import { commonScopes } from '../tokens/scopes.ts';
import { databaseNow, transact } from '../transaction.ts';
import { audienceOf, findValidAccessToken } from './access-tokens.ts';
import { authenticateClient } from './client-authentication.ts';
import { OAuthError, oauthEndpoint } from './oauth-error.ts';
import { readForm } from './parameters.ts';
import { familyExpiry, findRefreshToken, mayHaveTokens, revokeFamily } from './token-families.ts';

/**
 * POST /oauth/revoke: responds 200 to any token, but revokes only the client's own. A refresh token
 * is revoked with its family.
 */
export function revokeEndpoint(ctx: IdentityContext) {
  return oauthEndpoint(ctx, '/oauth/revoke', async (req, res) => {
    const parameters = await readForm(req, res);
    const client = await authenticateClient(ctx, req, parameters);
    const token = parameters.get('token');
    const found = await findRefreshToken(ctx, client, token);
    const origin = readOrigin(req);
    if (found) await revokeFamily(ctx, found.family.id, 'revoked', origin);
    else await revokeAccessToken(ctx, client, token, origin);
    res.json({}); // clients ignore the body (RFC 7009, 2.2), but some accept only JSON
  });
}

async function revokeAccessToken(
  ctx: IdentityContext,
  client: Client,
  token: string,
  { requestId, address }: Origin,
): Promise<void> {
  const claims = await findValidAccessToken(ctx, token);
  if (!claims || claims.client_id !== client.client_id) return;
  const end = new Date(claims.exp * 1000);
  const subject = { account_id: client.account_id, kind: 'token', subject: claims.jti, reason: 'revoked' } as const;
  const who = { account_id: client.account_id, user_id: claims.user_id, application_id: client.id, address };
  await transact(ctx, async (tx) => {
    await revoke(tx, { ...subject, issued_before: end, expires_at: end }, requestId);
    const after = { token_id: claims.jti };
    await recordEntry(tx, { ...who, request_id: requestId, action: 'token.revoked', after });
  });
}

/**
 * POST /oauth/introspect: describes a confidential client's own token; any other token is inactive.
 */
export function introspectEndpoint(ctx: IdentityContext) {
  return oauthEndpoint(ctx, '/oauth/introspect', async (req, res) => {
    const parameters = await readForm(req, res);
    const client = await authenticateClient(ctx, req, parameters);
    if (!client.confidential)
      throw new OAuthError('invalid_client', 'Only confidential applications may introspect.', { status: 401 });
    const token = parameters.get('token');
    res.json(
      (await describeAccess(ctx, client, token)) ?? (await describeRefresh(ctx, client, token)) ?? { active: false },
    );
  });
}

async function describeAccess(ctx: IdentityContext, client: Client, token: string) {
  const claims = await findValidAccessToken(ctx, token);
  if (!claims || claims.client_id !== client.client_id) return undefined;
  const scope = commonScopes(claims.scope, client.scopes);
  if (scope === undefined) return undefined;
  return {
    active: true,
    token_type: 'Bearer',
    iss: ctx.config.common.publicUrl,
    aud: audienceOf(ctx.config),
    sub: claims.sub,
    scope,
    client_id: claims.client_id,
    account_id: claims.account_id,
    user_id: claims.user_id,
    jti: claims.jti,
    iat: claims.iat,
    exp: claims.exp,
  };
}

async function describeRefresh(ctx: IdentityContext, client: Client, token: string) {
  const found = await findRefreshToken(ctx, client, token);
  const now = await databaseNow(ctx.prisma);
  if (!found || found.used_at) return undefined;
  const end = new Date(Math.min(found.expires_at.getTime(), familyExpiry(ctx, found.family).getTime()));
  if (end <= now) return undefined;
  if (found.family.revoked_at || !mayHaveTokens(found.family.user, client)) return undefined;
  const scope = commonScopes(found.family.scope, client.scopes);
  if (scope === undefined) return undefined;
  return {
    active: true,
    iss: ctx.config.common.publicUrl,
    sub: String(found.family.user_id),
    scope,
    client_id: client.client_id,
    account_id: client.account_id,
    user_id: found.family.user_id,
    iat: Math.floor(found.created_at.getTime() / 1000),
    exp: Math.floor(end.getTime() / 1000),
  };
}
