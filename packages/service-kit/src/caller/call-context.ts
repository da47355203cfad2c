// Who calls, signed: the only source of account and user inside the system (design, rule 3).
// The gateway signs one for each accepted token, a service signs its own for work it does later. Ed25519 JWT, 60 s.
import { createLocalJWKSet, importJWK, type JSONWebKeySet, type JWK, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../errors.ts';
import { invalidToken } from './unauthenticated.ts';

export const contextHeader = 'x-almanac-context';
export const requestIdHeader = 'x-request-id';
const audience = 'almanac-services';
const lifetimeSeconds = 60;
// Clocks may be 30 s apart. A context is used for the first half of its life only, so a verifier that is ahead still finds it alive;
// past its end it is given no more than the way takes. A verifier that is behind sees it begin in the future.
const pastEndSeconds = 5;
const futureSeconds = 30;

/** Where a service takes calls: over HTTP from the gateway alone, by gRPC from whom its table of callers says. */
export type Port = 'http' | 'rpc';

export type Issuer = 'gateway' | 'identity' | 'metadata' | 'data' | 'jobs' | 'billing' | 'operator';

/** What is true of a call. `userId` is absent for machines; `scopes` are those of the token. */
export type CallContext = {
  issuer: Issuer;
  accountId: number;
  userId?: number;
  applicationId?: number;
  scopes: string[];
  branching: boolean;
  /** How many bytes of files the account may keep; undefined: not told. */
  storageBytes?: number;
  requestId: string;
  /** Where the caller is, as the gateway saw it: for the audit log, not for any decision. */
  address?: string;
  /** When its answer is due (deadline.ts). */
  answerBy?: number;
  /** Its Idempotency-Key, at a route that takes one (idempotency.ts). */
  keyed?: Keyed;
};

/** What an Idempotency-Key stands for: the key of this caller, and a hash of the request. */
export type Keyed = { owner: [accountId: number, caller: string, key: string]; hash: string };

/** `user:7`, `application:3`; a service acting on its own goes by its name. */
export function callerName(call: Pick<CallContext, 'userId' | 'applicationId' | 'issuer'>): string {
  if (call.userId !== undefined) return `user:${call.userId}`;
  if (call.applicationId !== undefined) return `application:${call.applicationId}`;
  return call.issuer;
}

/** What the signer states; issuer and what a request brings along are added by the mechanism. */
export type CallClaims = Omit<CallContext, 'issuer' | 'requestId' | 'address' | 'answerBy' | 'keyed'>;

/** `to` is the port that it is for, `data:http`. */
export type ContextSigner = (claims: CallClaims, to?: string) => Promise<string>;
export type ContextVerifier = (token: string, requestId: string, port?: Port) => Promise<CallContext>;

/** Signs contexts as `issuer` with its private Ed25519 key. */
export async function createContextSigner(issuer: Issuer, privateJwk: JWK): Promise<ContextSigner> {
  const key = await importJWK(privateJwk, 'EdDSA');
  return (claims, to) => {
    const now = Math.floor(Date.now() / 1000); // once: a second may begin between two looks at the clock
    return (
      new SignJWT({
        account: claims.accountId,
        user: claims.userId,
        application: claims.applicationId,
        scopes: claims.scopes,
        branching: claims.branching,
        storage: claims.storageBytes,
      })
        .setProtectedHeader({ alg: 'EdDSA', kid: issuer, typ: 'ctx+jwt' })
        .setIssuer(issuer)
        // Services of 0.1.0 know the first one only.
        .setAudience(to === undefined ? audience : [audience, to])
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSeconds)
        .sign(key)
    );
  };
}

type Remembered = { claims: Omit<CallContext, 'requestId'>; ports: string[]; expiresAt: number };

/**
 * Verifies contexts against the public keys of all issuers (kid = issuer). A verified text is remembered until it
 * expires, so the signature of a context used for many calls is checked once. Anything wrong is `unauthenticated`. With the name of the
 * service whose ports these are, a context holds only at the port that it was signed for.
 */
export function createContextVerifier(keySet: { keys: Record<string, unknown>[] }, service?: Issuer): ContextVerifier {
  const keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
  const remembered = new LRUCache<string, Remembered>({ max: 10_000 });
  return async (token, requestId, port) => {
    let known = remembered.get(token);
    if (!known || known.expiresAt <= Date.now()) {
      known = await verify(token, keys);
      remembered.set(token, known);
    }
    if (service && port) requirePort(known, `${service}:${port}`);
    if (port === 'http' && known.claims.issuer !== 'gateway')
      throw new ServiceError('forbidden', `${known.claims.issuer} may not call over HTTP.`);
    return { ...known.claims, requestId };
  };
}

function requirePort({ ports }: Remembered, port: string): void {
  // TODO after 0.2.0: refuse contexts that name no port; those of 0.1.0 don't (docs/adr/0002).
  if (ports.length === 0 || ports.includes(port)) return;
  throw new ServiceError('unauthenticated', 'The call context is for another port.');
}

async function verify(token: string, keys: ReturnType<typeof createLocalJWKSet>): Promise<Remembered> {
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
    // TODO after 0.2.0: not a second more. 0.1.0 looks at the clock twice.
    if (exp <= iat || exp - iat > lifetimeSeconds + 1) throw new Error('it lives too long');
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
    if (Number.isSafeInteger(payload.application)) claims.applicationId = payload.application as number;
    const ports = [payload.aud ?? []].flat().filter((name) => name !== audience);
    return { claims, ports, expiresAt: (exp + pastEndSeconds) * 1000 };
  } catch (cause) {
    throw new ServiceError('unauthenticated', 'The call context does not hold.', { cause });
  }
}

const userContextNeeded =
  'This operation needs a user context: use the authorization code flow instead of client credentials.';
const branchingNeeded = 'Branching is not enabled on the current plan';

/** True when the token has the scope or `api`, the parent of all (contract, Scopes). Whole words only. */
export function hasScope({ scopes }: Pick<CallContext, 'scopes'>, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes('api');
}

/** Throws 403 unless the token has the scope. */
export function requireScope(call: Pick<CallContext, 'scopes'>, scope: string): void {
  if (hasScope(call, scope)) return;
  const message = `Insufficient scope. Required: ${scope}`;
  throw new ServiceError('forbidden', message, {
    label: message,
    headers: { 'WWW-Authenticate': `Bearer realm="almanac", error="insufficient_scope", scope="${scope}"` },
  });
}

/** Throws 401 unless a person stands behind the call (contract, Grant types). */
export function requireUser(call: CallContext): number {
  if (call.userId !== undefined) return call.userId;
  throw invalidToken(userContextNeeded);
}

/** Throws 403 unless the account's plan has branching (design 3.3). */
export function requireBranching(call: CallContext): void {
  if (!call.branching) throw new ServiceError('forbidden', branchingNeeded, { label: branchingNeeded });
}
