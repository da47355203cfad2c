// Headers every answer carries unless the service that answers says otherwise (the OAuth pages have a policy of their own).
import type { RequestHandler, Response } from 'express';
import { callOf } from '../call.ts';

/** Name, name in small letters, value. */
export type DefaultHeader = readonly [string, string, string];

const defaults: Record<string, string> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** All of them but X-Request-Id; `secure` adds what only makes sense behind TLS. */
export function defaultHeaders(secure: boolean): readonly DefaultHeader[] {
  const all = secure ? { ...defaults, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : defaults;
  return Object.entries(all).map(([name, value]) => [name, name.toLowerCase(), value]);
}

/** Gives an answer of the gateway's own what every answer carries. A forwarded one gets it with its head. */
export function addDefaults(res: Response, headers: readonly DefaultHeader[]): void {
  res.setHeader('X-Request-Id', callOf(res).requestId);
  for (const [name, , value] of headers) res.setHeader(name, value);
}

/** The step before the gateway's own documents. */
export const setDefaults =
  (headers: readonly DefaultHeader[]): RequestHandler =>
  (_req, res, next) => {
    addDefaults(res, headers);
    next();
  };
