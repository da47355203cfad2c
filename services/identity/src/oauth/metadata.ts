// Discovery: the server's metadata (RFC 8414) and its public keys. Addresses come from the
// configuration, never from the request's Host header.
import type { RequestHandler } from 'express';
import type { IdentityContext } from '../context.ts';
import { scopes } from '../tokens/scopes.ts';
import { oauthEndpoint } from './oauth-error.ts';
import { grants } from './token.ts';

const cacheable = 'public, max-age=300';

/** GET /.well-known/oauth-authorization-server. */
export function metadataEndpoint(ctx: IdentityContext): RequestHandler {
  const issuer = ctx.config.common.publicUrl;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.keys(grants),
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
  return oauthEndpoint(ctx, '/.well-known/oauth-authorization-server', async (_req, res) => {
    res.removeHeader('Pragma');
    res.set('Cache-Control', cacheable).json(metadata);
  });
}

/** GET /.well-known/jwks.json. */
export function keysEndpoint(ctx: IdentityContext): RequestHandler {
  return oauthEndpoint(ctx, '/.well-known/jwks.json', async (_req, res) => {
    const keys = await ctx.keys.publicKeys();
    res.removeHeader('Pragma');
    res.set('Cache-Control', cacheable).json(keys);
  });
}
