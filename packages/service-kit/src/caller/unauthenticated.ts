// The 401 of the API: the contract's message as label, and the challenge of RFC 6750.
import { ServiceError } from '../errors.ts';
import type { ProblemCode } from '../problems.ts';

const realm = 'Bearer realm="almanac"';

/** A request without a token: the challenge names no error (RFC 6750, 3.1). */
export function missingToken(): ServiceError {
  const label = 'Tenant context not set';
  return new ServiceError(
    'unauthenticated',
    { code: 'missing_token', message: label },
    { label, headers: { 'WWW-Authenticate': realm } },
  );
}

/** An invalid or insufficient token. `label` has no double quote; `message` may say more. */
export function invalidToken(code: ProblemCode, label: string, message = label): ServiceError {
  const challenge = `${realm}, error="invalid_token", error_description="${label}"`;
  return new ServiceError('unauthenticated', { code, message }, { label, headers: { 'WWW-Authenticate': challenge } });
}
