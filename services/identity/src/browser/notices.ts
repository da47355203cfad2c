// One sentence that the next page shows, about what was just done. It travels in a signed cookie: no link can put words into our
// mouth.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

const seconds = 60;

/** Has the next page say this. */
export function setNotice(ctx: IdentityContext, res: Response, sentence: string): void {
  const word = Buffer.from(sentence).toString('base64url');
  setCookie(ctx, res, 'notice', `${word}.${ctx.pageSigner.sign('notice', [word])}`, seconds);
}

/** What there is to say, once. */
export function takeNotice(ctx: IdentityContext, req: Request, res: Response): string | undefined {
  const cookie = readCookie(ctx, req, 'notice');
  if (cookie === undefined) return undefined;
  clearCookie(ctx, res, 'notice');
  const [word = '', signature = ''] = cookie.split('.');
  return ctx.pageSigner.verify('notice', [word], signature)
    ? Buffer.from(word, 'base64url').toString('utf8')
    : undefined;
}
