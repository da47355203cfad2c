// The pages for setting a password with a mailed link, and for requesting such a link.

import type { Request, RequestHandler, Response } from 'express';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import {
  type AuthorizationRequest,
  RefusedRequest,
  readAuthorizationRequest,
  UntrustedRequest,
  unpack,
} from '../oauth/authorization-request.ts';
import { Parameters, readQuery } from '../oauth/parameters.ts';
import { findLinkOwner, type LinkOwner, UnusableLink, usePasswordLink } from '../passwords/password-links.ts';
import { requestPasswordReset } from '../passwords/password-reset.ts';
import { passwordProblem } from '../passwords/password-rules.ts';
import { digestOf } from '../security/digest.ts';
import { clearCookie, readCookie, setCookie } from './cookies.ts';
import { csrfFields, readVerifiedForm, UnverifiedForm } from './forms.ts';
import { setNotice } from './notices.ts';
import { pageEndpoint, redirectToPage, redirectToRequest, requestPath } from './page-endpoint.ts';
import { endSession, ensureSessionId, setDeviceCookie } from './sessions.ts';
import { sendPage } from './views/layout.ts';
import { waitInWords } from './views/parts.ts';
import { forgotPasswordPage, linkSentPage, setPasswordPage, unusableLinkPage } from './views/password.ts';

// The lifetime of a link for a new password.
const cookieSeconds = 3_600;

/**
 * GET /oauth/password: the form. The link's secret is moved from the address to a cookie first,
 * which keeps it out of the browser's history, of copied addresses, and of the page.
 */
export function showPasswordForm(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password', async (req, res) => {
    const sent = readQuery(req).find('token');
    const token = sent ?? readCookie(ctx, req, 'link');
    const owner = await findOwner(ctx, token);
    if (token === undefined || owner === undefined) return showUnusableLink(ctx, res);
    if (sent !== undefined) {
      setCookie(ctx, res, 'link', sent, cookieSeconds);
      return redirectToPage(ctx, res, '/oauth/password');
    }
    showForm(ctx, res, ensureSessionId(ctx, req, res), token, owner);
  });
}

/** POST /oauth/password: sets the password and ends the browser's session. */
export function submitPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password', async (req, res) => {
    const { posted, subject, sessionId } = await readVerifiedForm(ctx, req, res, 'set password');
    const token = readCookie(ctx, req, 'link');
    const owner = await findOwner(ctx, token);
    if (token === undefined || owner === undefined) return showUnusableLink(ctx, res);
    // Another link was opened in between: its cookie must not serve a form that shows another
    // user's address.
    if (subject !== formIdOf(token)) throw new UnverifiedForm('set password', subject);
    const password = posted.find('password') ?? '';
    const problem =
      passwordProblem(password, owner) ??
      (password === posted.find('again') ? undefined : 'The two passwords are not the same.');
    if (problem !== undefined) return showForm(ctx, res, sessionId, token, owner, problem);
    try {
      await usePasswordLink(ctx, token, password, readOrigin(req));
    } catch (error) {
      if (error instanceof UnusableLink) return showUnusableLink(ctx, res);
      throw error;
    }
    await endSession(ctx, req, res, readOrigin(req));
    clearCookie(ctx, res, 'link');
    // The owner of the mailbox can log in here even while others guess the password.
    setDeviceCookie(ctx, res, owner.id);
    setNotice(ctx, res, 'Your password is set. Log in with it now.');
    const request = await findKeptRequest(ctx, req, owner);
    clearCookie(ctx, res, 'request');
    redirectToRequest(ctx, res, request?.packed ?? '');
  });
}

async function findOwner(ctx: IdentityContext, token: string | undefined): Promise<LinkOwner | undefined> {
  // No link has a secret of another form.
  return token !== undefined && /^[A-Za-z0-9_-]{43}$/.test(token) ? findLinkOwner(ctx, token) : undefined;
}

/** Identifies a link in a form without revealing its secret. */
function formIdOf(token: string): string {
  return Buffer.from(digestOf(`form ${token}`)).toString('base64url');
}

function showForm(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  token: string,
  owner: LinkOwner,
  problem?: string,
): void {
  const hidden = csrfFields(ctx, sessionId, 'set password', formIdOf(token));
  sendPage(res, {
    title: problem === undefined ? 'Set your password' : 'Problem: set your password',
    status: problem === undefined ? 200 : 422,
    body: setPasswordPage({ email: owner.email, accountName: owner.account.name, hidden, problem }),
  });
}

function showUnusableLink(ctx: IdentityContext, res: Response): void {
  clearCookie(ctx, res, 'link');
  sendPage(res, { title: 'This link doesn’t work', status: 410, body: unusableLinkPage() });
}

/** GET /oauth/password/forgot: asks for the e-mail address and keeps the application's request. */
export function showForgotPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password/forgot', async (req, res) => {
    const query = readQuery(req);
    const request = query.find('client_id') === undefined ? undefined : await readAuthorizationRequest(ctx, query);
    showForgotForm(ctx, res, ensureSessionId(ctx, req, res), request);
  });
}

/**
 * POST /oauth/password/forgot: requests the mail. The page doesn't reveal whether the address is
 * known.
 */
export function submitForgotPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password/forgot', async (req, res) => {
    const { posted, subject, sessionId } = await readVerifiedForm(ctx, req, res, 'forgot password');
    const request = subject === '' ? undefined : await readAuthorizationRequest(ctx, new Parameters(unpack(subject)));
    const email = posted.find('email') ?? '';
    const client = request?.client;
    const waitSeconds = await requestPasswordReset(ctx, readOrigin(req), { email, client });
    if (waitSeconds > 0) {
      res.set('Retry-After', String(waitSeconds));
      const problem = `A link was asked for several times already. Look into your mail, or try again in ${waitInWords(waitSeconds)}.`;
      return showForgotForm(ctx, res, sessionId, request, { email, problem });
    }
    keepRequest(ctx, res, subject);
    sendPage(res, { title: 'Look into your mail', body: linkSentPage(email, requestPath(subject)) });
  });
}

function showForgotForm(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  request: AuthorizationRequest | undefined,
  retry?: { email: string; problem: string },
): void {
  const subject = request?.packed ?? '';
  sendPage(res, {
    title: retry ? 'Problem: forgot password' : 'Forgot password',
    status: retry ? 429 : 200,
    body: forgotPasswordPage({
      applicationName: request?.client.name,
      hidden: csrfFields(ctx, sessionId, 'forgot password', subject),
      backPath: requestPath(subject),
      retry,
    }),
  });
}

// Browsers keep about 4 kB of a cookie; with a longer request the user starts again at the
// application.
const maxRequestLength = 3_000;

/** Keeps the authorization request until the link in the mail is opened in the same browser. */
function keepRequest(ctx: IdentityContext, res: Response, packed: string): void {
  if (packed === '' || packed.length > maxRequestLength) clearCookie(ctx, res, 'request');
  else setCookie(ctx, res, 'request', packed, cookieSeconds);
}

/** The request kept in this browser, if it is still valid and for the user's account. */
async function findKeptRequest(
  ctx: IdentityContext,
  req: Request,
  owner: LinkOwner,
): Promise<AuthorizationRequest | undefined> {
  const packed = readCookie(ctx, req, 'request');
  if (packed === undefined) return undefined;
  try {
    const request = await readAuthorizationRequest(ctx, new Parameters(unpack(packed)));
    return request.client.account_id === owner.account_id ? request : undefined;
  } catch (error) {
    if (error instanceof UntrustedRequest || error instanceof RefusedRequest) return undefined;
    throw error;
  }
}
