// A notice: one sentence that the next page shows about the last action. It travels in a signed
// cookie, so that no link can make a page show another text.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';

const lifetimeSeconds = 60;

/** Sets the notice of the next page. */
export function setNotice(ctx: IdentityContext, res: Response, sentence: string): void {
  const word = Buffer.from(sentence).toString('base64url');
  setCookie(ctx, res, 'notice', `${word}.${ctx.pageSigner.sign('notice', [word])}`, lifetimeSeconds);
}

/** Reads the notice and clears it. */
export function takeNotice(ctx: IdentityContext, req: Request, res: Response): string | undefined {
  const cookie = readCookie(ctx, req, 'notice');
  if (cookie === undefined) return undefined;
  clearCookie(ctx, res, 'notice');
  const [word = '', signature = ''] = cookie.split('.');
  return ctx.pageSigner.verify('notice', [word], signature)
    ? Buffer.from(word, 'base64url').toString('utf8')
    : undefined;
}
