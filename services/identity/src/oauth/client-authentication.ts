// Which application is asking (RFC 6749, 2.3): by HTTP Basic or in the body, public ones by their id alone.
import { readClientAddress } from '@almanac/service-kit/client-address';
import type { Request } from 'express';
import { type Client, findClient } from '../applications.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, sameDigest } from '../digest.ts';
import { networkOf, type ThrottleKey } from '../throttle.ts';
import { OAuthError } from './oauth-error.ts';
import type { Parameters } from './parameters.ts';

type Credentials = { id: string; secret: string | undefined; basic: boolean };

/** The application whose credentials hold; unknown ones and wrong secrets can't be told apart. */
export async function authenticateClient(ctx: IdentityContext, req: Request, parameters: Parameters): Promise<Client> {
  const credentials = readCredentials(req, parameters);
  const client = await findClient(ctx.prisma, credentials.id);
  if (holds(client, credentials.secret)) return client as Client;
  throw await refuse(ctx, req, credentials);
}

const nobody: Pick<Client, 'confidential' | 'secrets'> = {
  confidential: true,
  secrets: [{ digest: new Uint8Array(32) }],
};

// Always hashes and compares, so that the time doesn't tell whether the application exists.
function holds(client: Client | null, secret: string | undefined): boolean {
  const { confidential, secrets } = client ?? nobody;
  const digest = digestOf(secret ?? '');
  const matches = secrets.filter((kept) => sameDigest(kept.digest, digest)).length > 0;
  if (!client) return false;
  if (!confidential) return secret === undefined;
  return secret !== undefined && matches;
}

/** Guessing is slowed down with 429; a right secret is never refused, so nobody can be shut out. */
async function refuse(ctx: IdentityContext, req: Request, { id, basic }: Credentials): Promise<OAuthError> {
  const address = readClientAddress(req);
  const keys: ThrottleKey[] = [
    { rule: 'clientFrom', key: `${id}|${address}` },
    { rule: 'clientNetwork', key: networkOf(address) },
  ];
  const wait = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (wait > 0)
    return new OAuthError('slow_down', 'Too many wrong credentials; try again later.', {
      status: 429,
      headers: { 'Retry-After': String(wait) },
    });
  return invalidClient(basic);
}

function invalidClient(basic: boolean): OAuthError {
  return new OAuthError('invalid_client', 'The client credentials are wrong or missing.', {
    status: 401,
    headers: basic ? { 'WWW-Authenticate': 'Basic realm="Almanac", charset="UTF-8"' } : {},
  });
}

function readCredentials(req: Request, parameters: Parameters): Credentials {
  const header = req.headers.authorization;
  const bodyId = parameters.find('client_id');
  const bodySecret = parameters.find('client_secret');
  if (header === undefined) {
    if (bodyId === undefined) throw invalidClient(false);
    return { id: bodyId, secret: bodySecret, basic: false };
  }
  const basic = readBasic(header);
  if (bodySecret !== undefined)
    throw new OAuthError('invalid_request', 'Send the client secret in the header or in the body, not in both.');
  if (bodyId !== undefined && bodyId !== basic.id)
    throw new OAuthError('invalid_request', 'The client ids of the header and the body differ.');
  return { ...basic, basic: true };
}

// Id and secret are form-encoded before they are joined and encoded again (RFC 6749, 2.3.1).
function readBasic(header: string): { id: string; secret: string | undefined } {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) throw invalidClient(true);
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient(true);
  try {
    const decode = (part: string) => decodeURIComponent(part.replace(/\+/g, ' '));
    const secret = decode(text.slice(colon + 1));
    return { id: decode(text.slice(0, colon)), secret: secret === '' ? undefined : secret };
  } catch {
    throw invalidClient(true);
  }
}
