// Client authentication (RFC 6749, 2.3): by HTTP Basic or in the body; public clients send their id
// alone.

import { networkOf } from '@almanac/service-kit/http/client-address';
import type { Request } from 'express';
import { recordSecretUse } from '../applications/client-secrets.ts';
import { type Client, findClient } from '../applications/clients.ts';
import { recordEntry } from '../audit/audit-log.ts';
import { type Origin, readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { digestOf, sameDigest } from '../security/digest.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import { OAuthError } from './oauth-error.ts';
import type { Parameters } from './parameters.ts';

type Credentials = { id: string; secret: string | undefined; basic: boolean };

/** The authenticated client. Unknown clients and wrong secrets get the same error. */
export async function authenticateClient(ctx: IdentityContext, req: Request, parameters: Parameters): Promise<Client> {
  const credentials = readCredentials(req, parameters);
  const client = await findClient(ctx.prisma, credentials.id);
  const secret = findSecret(client, credentials.secret);
  if (!client || !isAuthenticated(client, credentials.secret, secret))
    throw await refuse(ctx, readOrigin(req), credentials, client);
  if (secret)
    inBackground(ctx, recordSecretUse(ctx.prisma, secret), 'the use of a client secret could not be recorded');
  return client;
}

const dummySecrets: Client['secrets'] = [{ id: 0, digest: new Uint8Array(32), last_used_at: null }];

// Always hashes and compares, so that the time doesn't reveal whether the client exists.
function findSecret(client: Client | null, secret: string | undefined): Client['secrets'][number] | undefined {
  const digest = digestOf(secret ?? '');
  return (client?.secrets ?? dummySecrets).filter((stored) => sameDigest(stored.digest, digest))[0];
}

function isAuthenticated({ confidential }: Client, sent: string | undefined, found: object | undefined): boolean {
  return confidential ? sent !== undefined && found !== undefined : sent === undefined;
}

/** The error for wrong credentials, 429 after many. Right credentials are never throttled. */
async function refuse(
  ctx: IdentityContext,
  origin: Origin,
  { id, basic }: Credentials,
  client: Client | null,
): Promise<OAuthError> {
  const { address } = origin;
  const keys: ThrottleKey[] = [
    { rule: 'clientFrom', key: `${id}|${address}` },
    { rule: 'clientTo', key: id },
    { rule: 'clientNetwork', key: networkOf(address) },
  ];
  const wait = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (client) inBackground(ctx, recordFailure(ctx, origin, client, wait), 'a failed log-in could not be recorded');
  if (wait > 0)
    return new OAuthError('slow_down', 'Too many wrong credentials; try again later.', {
      status: 429,
      headers: { 'Retry-After': String(wait) },
    });
  return invalidClient(basic);
}

// Records every failed try, but only one throttled try a minute.
async function recordFailure(
  ctx: IdentityContext,
  { address, requestId }: Origin,
  client: Client,
  wait: number,
): Promise<void> {
  if (wait > 0 && !(await ctx.throttle.isFirstInMinute(`client ${client.id}`))) return;
  await recordEntry(ctx.prisma, {
    action: wait > 0 ? 'login.throttled' : 'login.failed',
    result: wait > 0 ? 'refused' : 'failed',
    account_id: client.account_id,
    application_id: client.id,
    address,
    request_id: requestId,
  });
}

// Not awaited: the work must not fail the response, nor reveal by its time which clients exist.
function inBackground(ctx: IdentityContext, work: Promise<void>, problem: string): void {
  work.catch((error: unknown) => ctx.logger.warn({ err: error }, problem));
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

// Id and secret are form-encoded before they are joined and base64-encoded (RFC 6749, 2.3.1).
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
