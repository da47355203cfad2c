// Headers every answer carries unless the service that answers says otherwise (the OAuth pages have a policy of their own).

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
export function securityHeaders(secure: boolean): readonly DefaultHeader[] {
  const all = secure ? { ...defaults, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : defaults;
  return Object.entries(all).map(([name, value]) => [name, name.toLowerCase(), value]);
}
