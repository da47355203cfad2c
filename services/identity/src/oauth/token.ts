// POST /oauth/token: the steps of the endpoint, in the protocol's order. Each grant has a file of
// its own.
import type { Request, Response } from 'express';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { authorizationCode } from './authorization-code.ts';
import { authenticateClient } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import { OAuthError, oauthEndpoint } from './oauth-error.ts';
import { type Parameters, readForm } from './parameters.ts';
import { refreshToken } from './refresh-token.ts';

/** The supported grants. */
export const grants = {
  client_credentials: clientCredentials,
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
} as const satisfies Record<string, Grant>;

/** POST /oauth/token. */
export function tokenEndpoint(ctx: IdentityContext) {
  return oauthEndpoint(ctx, '/oauth/token', async (req: Request, res: Response) => {
    const parameters = await readForm(req, res);
    const grant = chooseGrant(parameters);
    const client = await authenticateClient(ctx, req, parameters);
    const answer = await grant(ctx, { client, parameters, origin: readOrigin(req) });
    res.json(answer);
  });
}

function chooseGrant(parameters: Parameters): Grant {
  const name = parameters.get('grant_type');
  if (!Object.hasOwn(grants, name))
    throw new OAuthError('unsupported_grant_type', `Use one of ${Object.keys(grants).join(', ')}.`);
  return grants[name as keyof typeof grants];
}
