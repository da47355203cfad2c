// Cookies of the pages: hidden from scripts, not sent with other sites' forms, and limited to this
// host and, when the pages are served over TLS, to TLS.
import { cookieName, findCookie } from '@almanac/service-kit/http/cookies';
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';

/**
 * `session` and `device`: sessions.ts; `notice`: notices.ts; `link` and `request`:
 * password-pages.ts.
 */
type CookieName = 'session' | 'device' | 'notice' | 'link' | 'request';

/** True when the pages are served over TLS. */
export const isTls = (ctx: IdentityContext): boolean => ctx.config.common.publicUrl.startsWith('https:');

const fullName = (ctx: IdentityContext, name: CookieName) => cookieName(ctx.config.common.publicUrl, name);

/** The cookie's value; undefined when the browser sent none. */
export function readCookie(ctx: IdentityContext, req: Request, name: CookieName): string | undefined {
  return findCookie(req.headers.cookie, fullName(ctx, name));
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
