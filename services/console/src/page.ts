// The page of the console, which is the same for all of its addresses, and its policy: only scripts
// and styles of this server, no frames, and no text that becomes a script.
import { randomBytes } from 'node:crypto';
import type { Response } from 'express';

/** Where the build leaves the nonce of styles open (`html.cspNonce` of Vite). */
export const noncePlaceholder = '__CSP_NONCE__';

const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/** Sends the page with a nonce of its own, or says that nothing is built (503). */
export function sendPage(res: Response, index: string | undefined): void {
  res.set('Cache-Control', 'no-store');
  if (index === undefined) {
    res.status(503).type('text/plain').send('The console has not been built on this server.\n');
    return;
  }
  const nonce = randomBytes(16).toString('base64url');
  res.set({
    'Content-Security-Policy': policy(nonce),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  });
  res.type('html').send(index.replaceAll(noncePlaceholder, nonce));
}
