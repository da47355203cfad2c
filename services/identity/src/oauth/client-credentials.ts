// Grant client_credentials: a token of the application itself, without a user and without a refresh
// token (RFC 6749, 4.4).

import { grantScopes } from '../tokens/scopes.ts';
import { issueAccessToken, tokenResponse } from './access-tokens.ts';
import type { Grant } from './grant.ts';
import { OAuthError } from './oauth-error.ts';

/** The grant client_credentials. */
export const clientCredentials: Grant = async (ctx, { client, parameters }) => {
  if (!client.confidential)
    throw new OAuthError('unauthorized_client', 'Only confidential applications may use client_credentials.');
  const scope = grantScopes(client.scopes, parameters.find('scope'));
  if (scope === undefined)
    throw new OAuthError('invalid_scope', 'The scope is unknown or wider than the application has.');
  return tokenResponse(ctx, await issueAccessToken(ctx, { client, scope }));
};
