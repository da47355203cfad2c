// The OAuth server in the OpenAPI document: endpoints that no route declares, since their bodies
// are forms and their errors have RFC 6749's shape.
import type { OpenApiFragment } from '@almanac/service-kit/api/openapi';
import { asSchema, type NamedSchemas } from '@almanac/service-kit/openapi/named-schemas';
import { z } from 'zod';

const clientInForm = {
  client_id: z.string().optional().meta({ description: 'Of the application, unless HTTP Basic names it.' }),
  client_secret: z
    .string()
    .optional()
    .meta({ description: 'Of a confidential application, unless HTTP Basic has it.' }),
};
const scopeSchema = z.string().meta({
  description: 'Space-separated: `api`, `api:read`, `api:write`, `api:delete`, `api:admin`.',
});

const forms = {
  TokenRequest: z.object({
    grant_type: z.enum(['client_credentials', 'authorization_code', 'refresh_token']),
    ...clientInForm,
    scope: scopeSchema.optional(),
    code: z.string().optional().meta({ description: 'Of `authorization_code`: the code of the redirect.' }),
    redirect_uri: z
      .string()
      .optional()
      .meta({ description: 'Of `authorization_code`: the address that the authorization request named.' }),
    code_verifier: z
      .string()
      .optional()
      .meta({ description: 'Of `authorization_code` with PKCE, which applications without a secret must use.' }),
    refresh_token: z.string().optional().meta({ description: 'Of `refresh_token`; each works once.' }),
  }),
  RevocationRequest: z.object({
    token: z.string().meta({ description: 'An access token, or a refresh token with all tokens that came of it.' }),
    token_type_hint: z.string().optional().meta({ description: 'Accepted, and not needed.' }),
    ...clientInForm,
  }),
  IntrospectionRequest: z.object({
    token: z.string(),
    token_type_hint: z.string().optional().meta({ description: 'Accepted, and not needed.' }),
    ...clientInForm,
  }),
};

const answers = {
  Token: z.object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds.' }),
    scope: z.string(),
    created_at: z.int().meta({ description: 'Unix time.' }),
    refresh_token: z.string().optional().meta({ description: 'Of the authorization code flow only.' }),
  }),
  Revocation: z.object({}),
  Introspection: z.object({
    active: z.boolean().meta({ description: 'When false there is no other member.' }),
    token_type: z.string().optional(),
    iss: z.string().optional(),
    aud: z.string().optional(),
    sub: z.string().optional(),
    scope: z.string().optional(),
    client_id: z.string().optional(),
    account_id: z.int().optional(),
    user_id: z.int().nullable().optional(),
    jti: z.string().optional(),
    iat: z.int().optional(),
    exp: z.int().optional(),
  }),
  ServerMetadata: z.object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    revocation_endpoint: z.string(),
    introspection_endpoint: z.string(),
    jwks_uri: z.string(),
    scopes_supported: z.array(z.string()),
    response_types_supported: z.array(z.string()),
    response_modes_supported: z.array(z.string()),
    grant_types_supported: z.array(z.string()),
    token_endpoint_auth_methods_supported: z.array(z.string()),
    revocation_endpoint_auth_methods_supported: z.array(z.string()),
    introspection_endpoint_auth_methods_supported: z.array(z.string()),
    code_challenge_methods_supported: z.array(z.string()),
    authorization_response_iss_parameter_supported: z.boolean(),
    service_documentation: z.string(),
  }),
  KeySet: z.object({
    keys: z.array(
      z.looseObject({ kty: z.string(), kid: z.string(), use: z.string(), alg: z.string() }).meta({ id: 'PublicKey' }),
    ),
  }),
  OAuthError: z.object({
    error: z.string().meta({ description: 'A code of RFC 6749: `invalid_client`, `invalid_grant`, `invalid_scope` …' }),
    error_description: z.string(),
  }),
};

const common = { tags: ['OAuth'], 'x-service': 'identity', parameters: [] };
const json = (name: keyof typeof answers, description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});
const formBody = (name: keyof typeof forms, example: Record<string, string>) => ({
  required: true,
  content: {
    'application/x-www-form-urlencoded': { schema: { $ref: `#/components/schemas/${name}` }, example },
  },
});
const refusals = {
  '400': json('OAuthError', 'The request is wrong, or the grant is not valid.'),
  '401': json('OAuthError', 'The client is unknown, or its secret is wrong.'),
  '429': json('OAuthError', 'Too many wrong attempts (`slow_down`).'),
  '500': json('OAuthError', 'Something failed on the side of the service.'),
  '503': json('OAuthError', 'Currently unavailable; try again.'),
};

// By HTTP Basic, or by the members of the form.
const clientSecurity = [{ client: [] }, {}];

const authorizationParameters = {
  client_id: 'Of the application.',
  redirect_uri: 'One that the application has registered. `urn:ietf:wg:oauth:2.0:oob` shows the code on a page.',
  response_type: 'Always `code`.',
  scope: 'Space-separated; without it all scopes of the application.',
  state: 'Comes back with the redirect, unchanged.',
  code_challenge: 'PKCE: the SHA-256 digest of the verifier, base64url. Applications without a secret must send it.',
  code_challenge_method: '`S256`, with a `code_challenge`.',
  prompt: '`consent` asks the person again, whatever they have allowed before.',
};
const requiredParameters = new Set(['client_id', 'redirect_uri', 'response_type']);

/** The OAuth endpoints, for identity's part of the document. */
export function oauthDocument(): OpenApiFragment {
  const schemas: NamedSchemas = {};
  for (const [name, schema] of Object.entries(forms)) asSchema(schema.meta({ id: name }), 'input', schemas);
  for (const [name, schema] of Object.entries(answers)) asSchema(schema.meta({ id: name }), 'output', schemas);
  const paths = {
    '/oauth/token': {
      post: {
        ...common,
        operationId: 'requestToken',
        summary: 'Get a token',
        description:
          'Client credentials give a token of a machine. A code of `/oauth/authorize` gives one of a person with a refresh token, and a refresh token the next pair. Calls are not counted.',
        security: clientSecurity,
        requestBody: formBody('TokenRequest', { grant_type: 'client_credentials', scope: 'api:read api:write' }),
        responses: { '200': json('Token', 'The token.'), ...refusals },
      },
    },
    '/oauth/authorize': {
      get: {
        ...common,
        operationId: 'authorize',
        summary: 'Send a person to sign in',
        description:
          'Opened in a browser, not called by a program. The person signs in and allows the application; the browser then goes to `redirect_uri` with `code`, `state` and `iss`, or with `error`.',
        security: [],
        parameters: Object.entries(authorizationParameters).map(([name, description]) => ({
          name,
          in: 'query',
          required: requiredParameters.has(name),
          description,
          schema: { type: 'string' },
        })),
        responses: {
          '200': { description: 'A page: sign in, or allow the application.', content: { 'text/html': {} } },
          '303': { description: 'To `redirect_uri`, with the code or an error.' },
          '400': { description: 'A page: the application or the address is not known.', content: { 'text/html': {} } },
        },
      },
    },
    '/oauth/revoke': {
      post: {
        ...common,
        operationId: 'revokeToken',
        summary: 'Revoke a token',
        description: 'RFC 7009: 200 for any token, and only those of the client are revoked.',
        security: clientSecurity,
        requestBody: formBody('RevocationRequest', { token: '8xLOxBtZp8' }),
        responses: { '200': json('Revocation', 'Revoked, or not a token of this client.'), ...refusals },
      },
    },
    '/oauth/introspect': {
      post: {
        ...common,
        operationId: 'introspectToken',
        summary: 'Describe a token',
        description: 'RFC 7662, for confidential applications and their own tokens. Any other token is not active.',
        security: clientSecurity,
        requestBody: formBody('IntrospectionRequest', { token: '8xLOxBtZp8' }),
        responses: { '200': json('Introspection', 'What the token is good for.'), ...refusals },
      },
    },
    '/.well-known/oauth-authorization-server': {
      get: {
        ...common,
        operationId: 'getServerMetadata',
        summary: 'Show the addresses and abilities of the OAuth server',
        description: 'RFC 8414: OAuth libraries configure themselves from it.',
        security: [],
        responses: { '200': json('ServerMetadata', 'The metadata.') },
      },
    },
    '/.well-known/jwks.json': {
      get: {
        ...common,
        operationId: 'getPublicKeys',
        summary: 'List the public keys that tokens are signed with',
        description: 'RFC 7517. Keys are replaced from time to time: fetch them again when a `kid` is unknown.',
        security: [],
        responses: { '200': json('KeySet', 'The keys.') },
      },
    },
  };
  return { paths, components: { schemas } };
}
