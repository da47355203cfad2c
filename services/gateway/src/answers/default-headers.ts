// Headers of every answer. A service may set its own instead: the OAuth pages have their own
// policy.
import type { Response } from 'express';
import { callOf } from '../call.ts';

/** Name, name in lower case, value. */
export type DefaultHeader = readonly [string, string, string];

const defaults: Record<string, string> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** All of them except X-Request-Id. `secure` adds Strict-Transport-Security, which needs TLS. */
export function defaultHeaders(secure: boolean): readonly DefaultHeader[] {
  const all = secure ? { ...defaults, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : defaults;
  return Object.entries(all).map(([name, value]) => [name, name.toLowerCase(), value]);
}

/** Sets the default headers and X-Request-Id of an answer that the gateway itself gives. */
export function setDefaultHeaders(res: Response, headers: readonly DefaultHeader[]): void {
  res.setHeader('X-Request-Id', callOf(res).requestId);
  for (const [name, , value] of headers) res.setHeader(name, value);
}
