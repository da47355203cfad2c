// Headers every answer carries unless the service that answers says otherwise (the OAuth pages have a policy of their own).
import type { ServerResponse } from 'node:http';

/** Sets the defaults; `secure` adds what only makes sense behind TLS. */
export function setSecurityHeaders(res: ServerResponse, requestId: string, secure: boolean): void {
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  if (secure) res.setHeader('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
}
