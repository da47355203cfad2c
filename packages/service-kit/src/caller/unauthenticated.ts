// The 401 of the API: the contract's message as label, and the challenge of RFC 6750.
import { ServiceError } from '../errors.ts';
import type { ProblemCode } from '../problems.ts';

const realm = 'Bearer realm="almanac"';

const unauthenticated = (code: ProblemCode, label: string, message: string, challenge: string) =>
  new ServiceError('unauthenticated', { code, message }, { label, headers: { 'WWW-Authenticate': challenge } });

/** A request without a token: the challenge names no error (RFC 6750, 3.1). */
export function missingToken(): ServiceError {
  const label = 'Tenant context not set';
  return unauthenticated('missing_token', label, label, realm);
}

/** A call of the console without a session. */
export function endedSession(): ServiceError {
  return unauthenticated('session_ended', 'Session ended', 'You are not logged in, or your session has ended.', realm);
}

/**
 * A valid token without a user, where one is needed. The challenge names no error: clients would
 * replace an invalid token by another one of the same kind, and repeat the call.
 */
export function missingUser(label: string): ServiceError {
  return unauthenticated('user_required', label, label, realm);
}

/** An invalid token. `label` has no double quote; `message` may say more. */
export function invalidToken(code: ProblemCode, label: string, message = label): ServiceError {
  return unauthenticated(code, label, message, `${realm}, error="invalid_token", error_description="${label}"`);
}
