// Reads an authorization request (RFC 6749, 4.1.1). Problems with the client or its redirect URI
// are shown on a page; all others are sent to the client.

import { type Client, findClient } from '../applications/clients.ts';
import { isRegistered } from '../applications/redirect-uris.ts';
import type { IdentityContext } from '../context.ts';
import { grantScopes } from '../tokens/scopes.ts';
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts';
import type { Parameters } from './parameters.ts';

/** The supported parameters. */
const names = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'prompt',
] as const;

/** A valid authorization request. */
export type AuthorizationRequest = {
  client: Client;
  redirectUri: string;
  state: string | undefined;
  scope: string;
  codeChallenge: string | undefined;
  /** `prompt=consent` of OpenID Connect: ask the user, whatever they have allowed before. */
  wantsConsent: boolean;
  /** The request as one opaque text, for forms; see `unpack`. */
  packed: string;
};

/** The client or its redirect URI can't be trusted: the browser is not redirected. */
export class UntrustedRequest extends Error {}

/** The request is refused; the client gets the error at its redirect URI. */
export class RefusedRequest extends Error {
  readonly code: OAuthErrorCode;
  readonly redirectUri: string;
  readonly state: string | undefined;

  constructor(code: OAuthErrorCode, description: string, redirectUri: string, state: string | undefined) {
    super(description);
    this.code = code;
    this.redirectUri = redirectUri;
    this.state = state;
  }
}

/** Encodes the supported parameters as one text, which forms carry along unchanged. */
function pack(parameters: Parameters): string {
  const pairs = names.flatMap((name) => {
    const value = parameters.find(name);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return encodeQuery(new URLSearchParams(pairs));
}

/** A query as one opaque text; `unpack` reads it. */
export const encodeQuery = (query: URLSearchParams): string => Buffer.from(query.toString()).toString('base64url');

/**
 * The packed request with its scopes spelled out. A request without scopes means all scopes of the
 * application, and these may be more when the user decides than when the page was shown.
 */
export function packWithScopes({ packed, scope }: AuthorizationRequest): string {
  const query = new URLSearchParams(unpack(packed));
  query.set('scope', scope);
  return encodeQuery(query);
}

/** The query of a packed request. Every use validates it like a new request. */
export function unpack(packed: string): string {
  return Buffer.from(packed, 'base64url').toString('utf8');
}

/** Validates an authorization request; throws UntrustedRequest or RefusedRequest. */
export async function readAuthorizationRequest(
  ctx: IdentityContext,
  parameters: Parameters,
): Promise<AuthorizationRequest> {
  const { client, redirectUri } = await readDestination(ctx, parameters);
  const state = parameters.find('state');
  try {
    for (const name of names)
      if (parameters.repeated.has(name))
        throw new OAuthError('invalid_request', `${name} must not be given more than once.`);
    requireCodeResponse(parameters);
    const codeChallenge = readChallenge(client, parameters);
    const scope = grantScopes(client.scopes, parameters.find('scope'));
    if (scope === undefined)
      throw new OAuthError('invalid_scope', 'The scope is unknown or wider than the application has.');
    const wantsConsent = (parameters.find('prompt') ?? '').split(' ').includes('consent');
    return { client, redirectUri, state, scope, codeChallenge, wantsConsent, packed: pack(parameters) };
  } catch (error) {
    if (error instanceof OAuthError) throw new RefusedRequest(error.code, error.message, redirectUri, state);
    throw error;
  }
}

async function readDestination(ctx: IdentityContext, parameters: Parameters) {
  const clientId = parameters.find('client_id');
  const redirectUri = parameters.find('redirect_uri');
  if (clientId === undefined || parameters.repeated.has('client_id'))
    throw new UntrustedRequest('The request does not say which application it is for.');
  const client = await findClient(ctx.prisma, clientId);
  if (!client) throw new UntrustedRequest('The application is not known here.');
  if (redirectUri === undefined || parameters.repeated.has('redirect_uri'))
    throw new UntrustedRequest('The request does not say where the answer should go.');
  if (!isRegistered(client.redirect_uri, redirectUri))
    throw new UntrustedRequest('The address for the answer is not one that the application has registered.');
  return { client, redirectUri };
}

function requireCodeResponse(parameters: Parameters): void {
  if (parameters.get('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
  if ((parameters.find('response_mode') ?? 'query') !== 'query')
    throw new OAuthError('invalid_request', 'response_mode must be query.');
}

// PKCE (RFC 7636): S256 only, and required of public applications, which have no secret.
function readChallenge(client: Client, parameters: Parameters): string | undefined {
  const challenge = parameters.find('code_challenge');
  const method = parameters.find('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined) throw new OAuthError('invalid_request', 'code_challenge is missing.');
    if (!client.confidential) throw new OAuthError('invalid_request', 'A public application must use PKCE.');
    return undefined;
  }
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256.');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge must be a SHA-256 in base64url.');
  return challenge;
}
