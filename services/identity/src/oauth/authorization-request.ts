// Reads an authorization request (RFC 6749, 4.1.1): what is wrong with the client or its address is shown on a page, everything
// else is sent back to the client.

import { type Client, findClient } from '../applications/clients.ts';
import { isRegistered } from '../applications/redirect-uris.ts';
import type { IdentityContext } from '../context.ts';
import { grantScopes } from '../tokens/scopes.ts';
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts';
import type { Parameters } from './parameters.ts';

/** The parameters we know. */
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

export type AuthorizationRequest = {
  client: Client;
  redirectUri: string;
  state: string | undefined;
  scope: string;
  codeChallenge: string | undefined;
  /** The client wants the user to be asked, whatever he has allowed before (`prompt=consent`, as OpenID Connect has it). */
  wantsConsent: boolean;
  /** All of it as one word. */
  packed: string;
};

/** The client or its address can't be trusted: nobody is sent anywhere. */
export class UntrustedRequest extends Error {}

/** The request is refused, and the client is told at its own address. */
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

/** The known parameters of a request as one opaque word, so that forms carry them along untouched. */
function pack(parameters: Parameters): string {
  const pairs = names.flatMap((name) => {
    const value = parameters.find(name);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return toWord(new URLSearchParams(pairs));
}

const toWord = (query: URLSearchParams) => Buffer.from(query.toString()).toString('base64url');

/**
 * The same request as one word, asking for just the scopes that it has now: one that leaves them out means all of the application's,
 * and those may be more by the time somebody answers what he was shown.
 */
export function packWithScopes({ packed, scope }: AuthorizationRequest): string {
  const query = new URLSearchParams(unpack(packed));
  query.set('scope', scope);
  return toWord(query);
}

/** The query that such a word stands for. It is read anew wherever it is used, as if it had just come. */
export function unpack(packed: string): string {
  return Buffer.from(packed, 'base64url').toString('utf8');
}

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

// PKCE (RFC 7636): S256 only; a public application has nothing else to prove itself with.
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
