// Cookies of the pages: out of the reach of scripts, not sent along with other sites' forms, and over TLS of this very host only.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';

/** What each is for: who visits; a device somebody has logged in on; see notices.ts and password-pages.ts for the others. */
type CookieName = 'session' | 'device' | 'notice' | 'link' | 'request';

/** True when the pages are served over TLS. */
export const isTls = (ctx: IdentityContext): boolean => ctx.config.common.publicUrl.startsWith('https:');

// Browsers take a name with this prefix only from this host, over TLS and for all paths: no sister host can plant one.
const fullName = (ctx: IdentityContext, name: CookieName) => `${isTls(ctx) ? '__Host-' : ''}almanac_${name}`;

/** The cookie's value as the browser sent it; undefined when it sent none. */
export function readCookie(ctx: IdentityContext, req: Request, name: CookieName): string | undefined {
  const wanted = fullName(ctx, name);
  for (const pair of String(req.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === wanted) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Sends a cookie; `value` holds nothing that needs encoding. */
export function setCookie(
  ctx: IdentityContext,
  res: Response,
  name: CookieName,
  value: string,
  maxAgeSeconds: number,
): void {
  res.cookie(fullName(ctx, name), value, {
    httpOnly: true,
    sameSite: 'lax',
    secure: isTls(ctx),
    path: '/',
    maxAge: maxAgeSeconds * 1000,
  });
}

/** Has the browser forget a cookie. */
export function clearCookie(ctx: IdentityContext, res: Response, name: CookieName): void {
  setCookie(ctx, res, name, '', 0);
}
