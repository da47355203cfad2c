// Setting a password by a mailed link, and asking for such a link.

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

// As long as a link for a new password works.
const keepSeconds = 3_600;

/**
 * GET /oauth/password: the form. A link's secret goes from the address into a cookie first, so that it stays out of the browser's
 * history, of what people copy from the address bar, and of the page itself.
 */
export function showPasswordForm(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password', async (req, res) => {
    const given = readQuery(req).find('token');
    const token = given ?? readCookie(ctx, req, 'link');
    const owner = await findOwner(ctx, token);
    if (token === undefined || owner === undefined) return showUnusableLink(ctx, res);
    if (given !== undefined) {
      setCookie(ctx, res, 'link', given, keepSeconds);
      return redirectToPage(ctx, res, '/oauth/password');
    }
    showForm(ctx, res, ensureSessionId(ctx, req, res), token, owner);
  });
}

/** POST /oauth/password: sets the password, once; whoever sat at this browser is logged out. */
export function submitPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password', async (req, res) => {
    const { posted, about, sessionId } = await readVerifiedForm(ctx, req, res, 'set password');
    const token = readCookie(ctx, req, 'link');
    const owner = await findOwner(ctx, token);
    if (token === undefined || owner === undefined) return showUnusableLink(ctx, res);
    // Another link was opened meanwhile: its cookie must not serve a form that shows somebody else's address.
    if (about !== nameOf(token)) throw new UnverifiedForm('set password', about);
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
    // Whoever has the mailbox may log in here even while others guess at his password.
    setDeviceCookie(ctx, res, owner.id);
    setNotice(ctx, res, 'Your password is set. Log in with it now.');
    const request = await findKeptRequest(ctx, req, owner);
    clearCookie(ctx, res, 'request');
    redirectToRequest(ctx, res, request?.packed ?? '');
  });
}

async function findOwner(ctx: IdentityContext, token: string | undefined): Promise<LinkOwner | undefined> {
  // Anything else was never handed out.
  return token !== undefined && /^[A-Za-z0-9_-]{43}$/.test(token) ? findLinkOwner(ctx, token) : undefined;
}

/** A link as forms may tell it: nobody gets from here to its secret. */
function nameOf(token: string): string {
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
  const hidden = csrfFields(ctx, sessionId, 'set password', nameOf(token));
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

/** GET /oauth/password/forgot: asks for the address; whoever comes from an application's log-in brings its request along. */
export function showForgotPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password/forgot', async (req, res) => {
    const query = readQuery(req);
    const request = query.find('client_id') === undefined ? undefined : await readAuthorizationRequest(ctx, query);
    showForgotForm(ctx, res, ensureSessionId(ctx, req, res), request);
  });
}

/** POST /oauth/password/forgot: has the mail sent, if there is anybody; the answer doesn't tell. */
export function submitForgotPassword(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/password/forgot', async (req, res) => {
    const { posted, about, sessionId } = await readVerifiedForm(ctx, req, res, 'forgot password');
    const request = about === '' ? undefined : await readAuthorizationRequest(ctx, new Parameters(unpack(about)));
    const email = posted.find('email') ?? '';
    const client = request?.client;
    const waitSeconds = await requestPasswordReset(ctx, readOrigin(req), { email, client });
    if (waitSeconds > 0) {
      res.set('Retry-After', String(waitSeconds));
      const problem = `A link was asked for several times already. Look into your mail, or try again in ${waitInWords(waitSeconds)}.`;
      return showForgotForm(ctx, res, sessionId, request, { email, problem });
    }
    keepRequest(ctx, res, about);
    sendPage(res, { title: 'Look into your mail', body: linkSentPage(email, requestPath(about)) });
  });
}

function showForgotForm(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  request: AuthorizationRequest | undefined,
  retry?: { email: string; problem: string },
): void {
  const about = request?.packed ?? '';
  sendPage(res, {
    title: retry ? 'Problem: forgotten password' : 'Forgotten password',
    status: retry ? 429 : 200,
    body: forgotPasswordPage({
      applicationName: request?.client.name,
      hidden: csrfFields(ctx, sessionId, 'forgot password', about),
      backPath: requestPath(about),
      retry,
    }),
  });
}

// Browsers keep about 4 kB of a cookie; whoever brings more begins again at the application.
const longestRequest = 3_000;

/** Keeps the request that the person came with, until the mail's link is opened in the same browser. */
function keepRequest(ctx: IdentityContext, res: Response, packed: string): void {
  if (packed === '' || packed.length > longestRequest) clearCookie(ctx, res, 'request');
  else setCookie(ctx, res, 'request', packed, keepSeconds);
}

/** The request kept in this browser, if it still holds and is for this person's account. */
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
