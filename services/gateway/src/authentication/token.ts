// A verified access token, and the errors for one that is not valid (contract, Authentication
// failures).
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { invalidToken, missingToken } from '@almanac/service-kit/caller/unauthenticated';
import type { ServiceError } from '@almanac/service-kit/errors';
import type { JWTPayload } from 'jose';

export type Token = {
  id: string;
  accountId: number;
  userId?: number;
  applicationId?: number;
  clientId: string;
  /** The scopes it was issued with. */
  granted: string[];
  /**
   * The scopes it has now: those granted that its application still has. Replaced, never mutated.
   */
  scopes: string[];
  /** The application's scopes that `scopes` was computed with; undefined: all of `granted`. */
  limit?: string[];
  issuedAtMs: number;
  expiresAtMs: number;
  /** Set for a session of the console, which is resolved to a token of its user. */
  session?: { id: number; confirmedUntilMs: number };
  /** The cached call context for each service, and until when it may be reused. */
  contexts?: Record<
    string,
    { text: string; branching: boolean; storageBytes: number | undefined; scopes: string[]; until: number }
  >;
};

const failures = {
  'Invalid token': 'invalid_token',
  'Invalid resource owner': 'unknown_user',
  'Token/user account mismatch': 'account_mismatch',
} as const;

type Failure = 'Tenant context not set' | keyof typeof failures;

/** 401 with the contract's message as label. */
export function unauthenticated(message: Failure): ServiceError {
  return message === 'Tenant context not set' ? missingToken() : invalidToken(failures[message], message);
}

/** A bearer token as it was sent. The hash is its cache key. */
export type Bearer = { header: string; text: string; hash: string };

// Most requests of a connection send the same token as the previous one.
const lastBearers = new WeakMap<object, Bearer>();

/** The bearer token of the Authorization header. Another scheme counts as no credentials. */
export function readBearer({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Bearer {
  const { authorization: header } = headers;
  const last = lastBearers.get(socket);
  if (last && last.header === header) return last;
  const match = header === undefined ? null : /^bearer(?: +(.*))?$/i.exec(header);
  if (!header || !match?.[1]) throw unauthenticated('Tenant context not set');
  const text = match[1];
  if (!/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text)) throw unauthenticated('Invalid token');
  const bearer = { header, text, hash: hash('sha256', text, 'base64url') };
  lastBearers.set(socket, bearer);
  return bearer;
}

/** Reads the claims of a token; a claim that is missing or has another type makes it invalid. */
export function readClaims(claims: JWTPayload): Token {
  const { jti, client_id, account_id, application_id, user_id, user_account_id, scope, iat, exp } = claims;
  const isWellFormed =
    typeof jti === 'string' &&
    typeof client_id === 'string' &&
    isId(account_id) &&
    (application_id === undefined || isId(application_id)) &&
    (user_id === undefined || isId(user_id)) &&
    typeof scope === 'string' &&
    typeof iat === 'number' &&
    typeof exp === 'number';
  if (!isWellFormed) throw unauthenticated('Invalid token');
  if (user_account_id !== undefined && user_account_id !== account_id)
    throw unauthenticated('Token/user account mismatch');
  const granted = scope.split(' ');
  const token: Token = {
    id: jti,
    accountId: account_id,
    clientId: client_id,
    granted,
    scopes: granted,
    issuedAtMs: iat * 1000,
    expiresAtMs: exp * 1000,
  };
  if (user_id !== undefined) token.userId = user_id;
  if (application_id !== undefined) token.applicationId = application_id;
  return token;
}

/** Limits a token to its application's present scopes; undefined: no limit. */
export function limitToken(token: Token, limit: string[] | undefined): void {
  if (token.limit === limit) return;
  token.limit = limit;
  token.scopes = limit ? commonScopes(token.granted, limit) : token.granted;
}

// `api` includes all scopes, so the result is the other list.
function commonScopes(granted: string[], limit: string[]): string[] {
  if (limit.includes('api')) return granted;
  return granted.includes('api') ? limit : granted.filter((scope) => limit.includes(scope));
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
