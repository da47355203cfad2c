// Forms of ours: what they carry unseen, and the proof that we made a form for this very visitor and purpose (CSRF).
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { type Parameters, readPostedForm } from '../oauth/parameters.ts';
import { findSessionId } from './sessions.ts';

export type FormName = 'log in' | 'consent' | 'log out' | 'take back' | 'forgot password' | 'set password';

/**
 * The hidden fields of a form. `about` is what it is about, in one word: an authorization request as it came, or nothing (log in
 * and log out); an application (take back); a link (set password).
 */
export function csrfFields(
  ctx: IdentityContext,
  sessionId: string,
  form: FormName,
  about: string,
): Record<string, string> {
  return { request: about, csrf: ctx.pageSigner.sign(`csrf ${form}`, [sessionId, about]) };
}

/** A form that we didn't make just so for this visitor. */
export class UnverifiedForm extends Error {
  readonly form: FormName;
  /** What it says to be about: nothing of it is proven. */
  readonly about: string;

  constructor(form: FormName, about: string) {
    super('The form is out of date or was not made here.');
    this.form = form;
    this.about = about;
  }
}

/** Reads a form of ours and what it is about; throws ForeignForm. */
export async function readVerifiedForm(
  ctx: IdentityContext,
  req: Request,
  res: Response,
  form: FormName,
): Promise<{ posted: Parameters; about: string; sessionId: string }> {
  const posted = await readPostedForm(req, res);
  const about = posted.find('request') ?? '';
  const sessionId = findSessionId(ctx, req);
  const token = posted.find('csrf') ?? '';
  if (sessionId === undefined || !ctx.pageSigner.verify(`csrf ${form}`, [sessionId, about], token))
    throw new UnverifiedForm(form, about);
  return { posted, about, sessionId };
}
