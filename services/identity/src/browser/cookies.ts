// Cookies of the pages: hidden from scripts, not sent with other sites' forms, and limited to this
// host and, when the pages are served over TLS, to TLS.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';

/**
 * `session` and `device`: sessions.ts; `notice`: notices.ts; `link` and `request`:
 * password-pages.ts.
 */
type CookieName = 'session' | 'device' | 'notice' | 'link' | 'request';

/** True when the pages are served over TLS. */
export const isTls = (ctx: IdentityContext): boolean => ctx.config.common.publicUrl.startsWith('https:');

// Browsers accept this prefix only over TLS, for all paths and without a domain, so that no other
// host of the domain can set the cookie.
const fullName = (ctx: IdentityContext, name: CookieName) => `${isTls(ctx) ? '__Host-' : ''}almanac_${name}`;

/** The cookie's value; undefined when the browser sent none. */
export function readCookie(ctx: IdentityContext, req: Request, name: CookieName): string | undefined {
  const wanted = fullName(ctx, name);
  for (const pair of String(req.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === wanted) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Sets a cookie; `value` needs no encoding. */
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

/** Makes the browser delete a cookie. */
export function clearCookie(ctx: IdentityContext, res: Response, name: CookieName): void {
  setCookie(ctx, res, name, '', 0);
}
