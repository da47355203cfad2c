// The 401 of the API: the contract's message as label, and the challenge of RFC 6750.
import { ServiceError } from '../errors.ts';

const realm = 'Bearer realm="almanac"';

const unauthenticated = (label: string, sentence: string, challenge: string) =>
  new ServiceError('unauthenticated', sentence, { label, headers: { 'WWW-Authenticate': challenge } });

/** A request without a token: the challenge names no error (RFC 6750, 3.1). */
export function missingToken(): ServiceError {
  const label = 'Tenant context not set';
  return unauthenticated(label, label, realm);
}

/**
 * A valid token without a user, where one is needed. The challenge names no error: clients would
 * replace an invalid token by another one of the same kind, and repeat the call.
 */
export function missingUser(label: string): ServiceError {
  return unauthenticated(label, label, realm);
}

/** An invalid token. `label` has no double quote; `sentence` may say more. */
export function invalidToken(label: string, sentence = label): ServiceError {
  return unauthenticated(label, sentence, `${realm}, error="invalid_token", error_description="${label}"`);
}
