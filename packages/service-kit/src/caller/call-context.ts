// The signed call context: the only source of account and user inside the system (design, rule 3).
// The gateway signs one for each accepted token; a service signs its own for work that it does
// later. An Ed25519 JWT that lives for 60 s.
import { createLocalJWKSet, importJWK, type JSONWebKeySet, type JWK, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../errors.ts';
import { missingUser } from './unauthenticated.ts';

export const contextHeader = 'x-almanac-context';
export const requestIdHeader = 'x-request-id';
const audience = 'almanac-services';
const lifetimeSeconds = 60;
// Clocks may differ by 30 s. A signer uses a context for the first half of its life only, so it is
// still valid for a verifier whose clock is ahead, plus a few seconds for the way. A verifier whose
// clock is behind sees an `iat` in the future.
const pastEndSeconds = 5;
const futureSeconds = 30;

/**
 * Services take HTTP calls from the gateway alone, and gRPC calls from the callers in their table.
 */
export type Port = 'http' | 'rpc';

export type Issuer = 'gateway' | 'identity' | 'metadata' | 'data' | 'jobs' | 'billing' | 'console' | 'operator';

/** The facts of a call. Machines have no `userId`; `scopes` are those of the token. */
export type CallContext = {
  issuer: Issuer;
  accountId: number;
  userId?: number;
  applicationId?: number;
  scopes: string[];
  branching: boolean;
  /** The bytes of files that the account may keep; undefined when the signer doesn't know. */
  storageBytes?: number;
  /** Set for calls of the console, which come with a session instead of a token. */
  channel?: 'console';
  requestId: string;
  /** The caller's address as the gateway saw it: for the audit log, not for decisions. */
  address?: string;
  /** When its answer is due (deadline.ts). */
  answerBy?: number;
  /** Its Idempotency-Key, at a route that takes one (idempotency.ts). */
  keyed?: Keyed;
};

/** An Idempotency-Key with its caller, and a hash of the request. */
export type Keyed = { owner: [accountId: number, caller: string, key: string]; hash: string };

/** `user:7`, `application:3`, or the name of a service that acts on its own. */
export function callerName(call: Pick<CallContext, 'userId' | 'applicationId' | 'issuer'>): string {
  if (call.userId !== undefined) return `user:${call.userId}`;
  if (call.applicationId !== undefined) return `application:${call.applicationId}`;
  return call.issuer;
}

/** The claims that a signer states. The issuer and the facts of the request are added. */
export type CallClaims = Omit<CallContext, 'issuer' | 'requestId' | 'address' | 'answerBy' | 'keyed'>;

/** `ports`: those that may accept the context, such as `data:http`. */
export type ContextSigner = (claims: CallClaims, ...ports: [string, ...string[]]) => Promise<string>;
export type ContextVerifier = (token: string, requestId: string, port?: Port) => Promise<CallContext>;

/** Signs contexts as `issuer` with its private Ed25519 key. */
export async function createContextSigner(issuer: Issuer, privateJwk: JWK): Promise<ContextSigner> {
  const key = await importJWK(privateJwk, 'EdDSA');
  return (claims, ...ports) => {
    const now = Math.floor(Date.now() / 1000); // read once: two reads may differ by a second
    return new SignJWT({
      account: claims.accountId,
      user: claims.userId,
      application: claims.applicationId,
      scopes: claims.scopes,
      branching: claims.branching,
      storage: claims.storageBytes,
      channel: claims.channel,
    })
      .setProtectedHeader({ alg: 'EdDSA', kid: issuer, typ: 'ctx+jwt' })
      .setIssuer(issuer)
      .setAudience([audience, ...ports])
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(key);
  };
}

type Verified = { claims: Omit<CallContext, 'requestId'>; ports: string[]; expiresAt: number };

/**
 * Verifies contexts against the public keys of all issuers (kid = issuer), and throws
 * `unauthenticated`. A verified token is cached until it expires, so a context of many calls costs
 * one check of its signature. With `service`, a context is valid only at the port it was signed
 * for.
 */
export function createContextVerifier(keySet: { keys: Record<string, unknown>[] }, service?: Issuer): ContextVerifier {
  const keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
  const cache = new LRUCache<string, Verified>({ max: 10_000 });
  return async (token, requestId, port) => {
    let known = cache.get(token);
    if (!known || known.expiresAt <= Date.now()) {
      known = await verify(token, keys);
      cache.set(token, known);
    }
    if (service && port) requirePort(known, `${service}:${port}`);
    if (port === 'http' && known.claims.issuer !== 'gateway')
      throw new ServiceError('forbidden', {
        code: 'missing_right',
        message: `${known.claims.issuer} may not call over HTTP.`,
      });
    return { ...known.claims, requestId };
  };
}

function requirePort({ ports }: Verified, port: string): void {
  if (ports.includes(port)) return;
  throw new ServiceError('unauthenticated', {
    code: 'invalid_token',
    message: 'The call context is for another port.',
  });
}

async function verify(token: string, keys: ReturnType<typeof createLocalJWKSet>): Promise<Verified> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms: ['EdDSA'],
      audience,
      typ: 'ctx+jwt',
      clockTolerance: pastEndSeconds,
      requiredClaims: ['iss', 'exp', 'iat', 'account'],
    });
    if (payload.iss !== protectedHeader.kid) throw new Error('issuer and key differ');
    const [iat, exp] = [payload.iat as number, payload.exp as number];
    if (exp <= iat || exp - iat > lifetimeSeconds) throw new Error('it lives too long');
    if (iat > Date.now() / 1000 + futureSeconds) throw new Error('it begins in the future');
    if (!Number.isSafeInteger(payload.account)) throw new Error('account is no id');
    const claims: Omit<CallContext, 'requestId'> = {
      issuer: payload.iss as Issuer,
      accountId: payload.account as number,
      scopes: Array.isArray(payload.scopes) ? (payload.scopes as string[]) : [],
      branching: payload.branching === true,
    };
    if (Number.isSafeInteger(payload.user)) claims.userId = payload.user as number;
    if (Number.isSafeInteger(payload.storage)) claims.storageBytes = payload.storage as number;
    if (payload.channel === 'console') claims.channel = payload.channel;
    if (Number.isSafeInteger(payload.application)) claims.applicationId = payload.application as number;
    const ports = [payload.aud ?? []].flat().filter((name) => name !== audience);
    return { claims, ports, expiresAt: (exp + pastEndSeconds) * 1000 };
  } catch (cause) {
    throw new ServiceError(
      'unauthenticated',
      { code: 'invalid_token', message: 'The call context does not hold.' },
      { cause },
    );
  }
}

const userContextNeeded =
  'This operation needs a user context: use the authorization code flow instead of client credentials.';
const branchingNeeded = 'Branching is not enabled on the current plan';

/**
 * True when the token has the scope or `api`, the parent of all (contract, Scopes). Whole words
 * only.
 */
export function hasScope({ scopes }: Pick<CallContext, 'scopes'>, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes('api');
}

/** Throws 403 unless the token has the scope. */
export function requireScope(call: Pick<CallContext, 'scopes'>, scope: string): void {
  if (hasScope(call, scope)) return;
  const message = `Insufficient scope. Required: ${scope}`;
  throw new ServiceError(
    'forbidden',
    { code: 'insufficient_scope', message, params: { scope } },
    {
      label: message,
      headers: { 'WWW-Authenticate': `Bearer realm="almanac", error="insufficient_scope", scope="${scope}"` },
    },
  );
}

/** Throws 401 for a call without a user (contract, Grant types). */
export function requireUser(call: CallContext): number {
  if (call.userId !== undefined) return call.userId;
  throw missingUser(userContextNeeded);
}

/** Throws 403 unless the account's plan has branching (design 3.3). */
export function requireBranching(call: CallContext): void {
  if (call.branching) return;
  const problem = { code: 'not_in_plan', message: branchingNeeded, params: { feature: 'branching' } } as const;
  throw new ServiceError('forbidden', problem, { label: branchingNeeded });
}
