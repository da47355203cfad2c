// Forms with a CSRF token, which proves that identity made the form for this session, purpose and
// subject.
import type { Request, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { type Parameters, readPostedForm } from '../oauth/parameters.ts';
import { findSessionId } from './sessions.ts';

/** Names of forms are signed into CSRF tokens: renaming one invalidates open pages. */
export type FormName = 'log in' | 'consent' | 'log out' | 'take back' | 'forgot password' | 'set password';

/**
 * The hidden fields of a form. `subject` is what the form acts on: a packed authorization request
 * or nothing (log in, log out, forgot password), an application (take back), a link (set password).
 */
export function csrfFields(
  ctx: IdentityContext,
  sessionId: string,
  form: FormName,
  subject: string,
): Record<string, string> {
  return { request: subject, csrf: ctx.pageSigner.sign(`csrf ${form}`, [sessionId, subject]) };
}

/** A form without a valid CSRF token for this session. */
export class UnverifiedForm extends Error {
  readonly form: FormName;
  /** The subject as sent, unverified. */
  readonly subject: string;

  constructor(form: FormName, subject: string) {
    super('The form is out of date or was not made here.');
    this.form = form;
    this.subject = subject;
  }
}

/** Reads a form and verifies its CSRF token; throws UnverifiedForm. */
export async function readVerifiedForm(
  ctx: IdentityContext,
  req: Request,
  res: Response,
  form: FormName,
): Promise<{ posted: Parameters; subject: string; sessionId: string }> {
  const posted = await readPostedForm(req, res);
  const subject = posted.find('request') ?? '';
  const sessionId = findSessionId(ctx, req);
  const token = posted.find('csrf') ?? '';
  if (sessionId === undefined || !ctx.pageSigner.verify(`csrf ${form}`, [sessionId, subject], token))
    throw new UnverifiedForm(form, subject);
  return { posted, subject, sessionId };
}
