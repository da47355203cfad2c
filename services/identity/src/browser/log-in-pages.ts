// The log-in and log-out pages, for an application's request or for the user's own pages.

import type { Request, RequestHandler, Response } from 'express';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { type AuthorizationRequest, readAuthorizationRequest, unpack } from '../oauth/authorization-request.ts';
import { Parameters, readQuery } from '../oauth/parameters.ts';
import { csrfFields, readVerifiedForm } from './forms.ts';
import { logIn } from './log-in.ts';
import { setNotice, takeNotice } from './notices.ts';
import { forgotPath, pageEndpoint, redirectToPage, redirectToRequest } from './page-endpoint.ts';
import { isReturnTo, packReturnTo } from './return-to.ts';
import { endSession, ensureSessionId, findSessionUser, setDeviceCookie, startSession } from './sessions.ts';
import { formTargetOf, sendPage } from './views/layout.ts';
import { logInPage, logOutPage } from './views/log-in.ts';
import { waitInWords } from './views/parts.ts';

/**
 * GET /oauth/login: the form without an application's request. `return_to` names the page of the
 * console to which the log-in leads.
 */
export function showOwnLogIn(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/login', async (req, res) => {
    const address = readQuery(req).find('return_to');
    const returnTo = address === undefined ? undefined : packReturnTo(ctx, address);
    const sessionId = ensureSessionId(ctx, req, res);
    const user = await findSessionUser(ctx, sessionId);
    if (!user) return showLogIn(ctx, req, res, sessionId, { returnTo });
    if (returnTo === undefined) redirectToPage(ctx, res, '/oauth/applications');
    else redirectToRequest(ctx, res, returnTo);
  });
}

/**
 * POST /oauth/login: checks the password and redirects to the authorization request or the user's
 * own page.
 */
export function submitLogIn(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/login', async (req, res) => {
    const { posted, subject, sessionId } = await readVerifiedForm(ctx, req, res, 'log in');
    const request = await findRequest(ctx, subject);
    const email = posted.find('email') ?? '';
    const password = posted.find('password') ?? '';
    const accountNumber = posted.find('account');
    const who = request ? { client: request.client } : { accountNumber };
    const outcome = await logIn(ctx, req, readOrigin(req), { email, password, ...who });
    if ('user' in outcome && (await startSession(ctx, req, res, outcome))) {
      setDeviceCookie(ctx, res, outcome.user.id);
      return redirectToRequest(ctx, res, subject);
    }
    const waitSeconds = 'user' in outcome ? 0 : outcome.waitSeconds;
    if (waitSeconds > 0) res.set('Retry-After', String(waitSeconds));
    showLogIn(ctx, req, res, sessionId, {
      request,
      returnTo: isReturnTo(subject) ? subject : undefined,
      retry: { email, accountNumber: accountNumber ?? '', problem: problemOf(waitSeconds, request !== undefined) },
      status: waitSeconds > 0 ? 429 : 422,
    });
  });
}

function problemOf(waitSeconds: number, hasAccount: boolean): string {
  if (waitSeconds > 0) return `Too many tries. Try again in ${waitInWords(waitSeconds)}.`;
  const wrong = 'The e-mail or the password is wrong.';
  return hasAccount ? wrong : `${wrong} If your address is in several accounts, give the account number.`;
}

type LogInForm = {
  request?: AuthorizationRequest | undefined;
  /** The subject of a log-in for the console. */
  returnTo?: string | undefined;
  retry?: { email: string; accountNumber: string; problem: string };
  status?: number;
};

/** Shows the log-in form, for an application's request if given. */
export function showLogIn(
  ctx: IdentityContext,
  req: Request,
  res: Response,
  sessionId: string,
  { request, returnTo, retry, status }: LogInForm,
): void {
  const subject = request?.packed ?? returnTo ?? '';
  sendPage(res, {
    title: retry ? 'Problem: log in' : 'Log in',
    status,
    formTarget: request && formTargetOf(request.redirectUri),
    body: logInPage({
      applicationName: request?.client.name,
      isForConsole: returnTo !== undefined,
      hidden: csrfFields(ctx, sessionId, 'log in', subject),
      forgotPath: forgotPath(subject),
      notice: takeNotice(ctx, req, res),
      retry,
    }),
  });
}

/** GET /oauth/logout: asks for confirmation, since any site can link here. */
export function showLogOut(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/logout', async (req, res) => {
    const sessionId = ensureSessionId(ctx, req, res);
    const user = await findSessionUser(ctx, sessionId);
    if (!user) return redirectToPage(ctx, res, '/oauth/login');
    sendPage(res, { title: 'Log out', body: logOutPage(user.email, csrfFields(ctx, sessionId, 'log out', '')) });
  });
}

/**
 * POST /oauth/logout: ends the session and redirects to the authorization request or the log-in
 * page.
 */
export function submitLogOut(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/logout', async (req, res) => {
    const { subject } = await readVerifiedForm(ctx, req, res, 'log out');
    await endSession(ctx, req, res, readOrigin(req));
    setNotice(ctx, res, 'You are logged out.');
    redirectToRequest(ctx, res, subject);
  });
}

function findRequest(ctx: IdentityContext, subject: string): Promise<AuthorizationRequest | undefined> {
  if (subject === '' || isReturnTo(subject)) return Promise.resolve(undefined);
  return readAuthorizationRequest(ctx, new Parameters(unpack(subject)));
}
