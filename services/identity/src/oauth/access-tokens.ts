// Access tokens (JWTs, RFC 9068), which gateways verify without asking identity, and the token
// response.

import type { Client } from '../applications/clients.ts';
import type { IdentityConfig } from '../config.ts';
import type { IdentityContext } from '../context.ts';
import { newIdentifier } from '../security/digest.ts';
import { isRevoked } from '../tokens/revocations.ts';

/** An access token, and what the token response says of it. */
export type IssuedToken = { token: string; jti: string; scope: string; issuedAt: number; expiresAt: Date };

type Subject = { client: Client; scope: string; user_id?: number; family_id?: string };

const tokenType = 'at+jwt';
/** The largest difference between the clocks of two instances. */
const clockToleranceSeconds = 30;

/** The audience of access tokens: the API. */
export function audienceOf(config: IdentityConfig): string {
  return `${config.common.publicUrl}/api/v1`;
}

/** Signs a new access token. */
export async function issueAccessToken(ctx: IdentityContext, subject: Subject): Promise<IssuedToken> {
  const { client, scope, user_id, family_id } = subject;
  const jti = newIdentifier();
  const issuedAt = Math.floor(Date.now() / 1000);
  const expires = issuedAt + ctx.config.accessTokenSeconds;
  const claims = {
    iss: ctx.config.common.publicUrl,
    aud: audienceOf(ctx.config),
    sub: user_id === undefined ? client.client_id : String(user_id),
    client_id: client.client_id,
    application_id: client.id,
    account_id: client.account_id,
    user_id,
    family_id,
    scope,
    jti,
    iat: issuedAt,
    exp: expires,
  };
  const token = await ctx.keys.sign(claims, tokenType);
  return { token, jti, scope, issuedAt, expiresAt: new Date(expires * 1000) };
}

/** The body of a successful token response: exactly the contract's fields. */
export function tokenResponse(ctx: IdentityContext, issued: IssuedToken, refreshToken?: string) {
  return {
    access_token: issued.token,
    token_type: 'Bearer',
    expires_in: ctx.config.accessTokenSeconds,
    scope: issued.scope,
    created_at: issued.issuedAt,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
}

/** The claims of an access token that identity reads. */
export type AccessClaims = {
  jti: string;
  sub: string;
  scope: string;
  client_id: string;
  account_id: number;
  user_id?: number;
  iat: number;
  exp: number;
};

/** The claims of a valid access token: signed by identity, not expired, not revoked. */
export async function findValidAccessToken(ctx: IdentityContext, token: string): Promise<AccessClaims | undefined> {
  const expected = {
    issuer: ctx.config.common.publicUrl,
    audience: audienceOf(ctx.config),
    typ: tokenType,
    now: new Date(),
  };
  const claims = (await ctx.keys.verify(token, expected)) as AccessClaims | undefined;
  if (!claims || claims.iat > Date.now() / 1000 + clockToleranceSeconds) return undefined;
  const { jti, client_id, account_id, user_id, iat } = claims;
  const revoked = await isRevoked(ctx.prisma, { jti, client_id, account_id, user_id, issued_at: new Date(iat * 1000) });
  return revoked ? undefined : claims;
}
