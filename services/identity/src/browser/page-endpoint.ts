// An endpoint for browsers: errors are shown as pages, or sent to the client when it can be
// trusted.
import type { Request, RequestHandler, Response } from 'express';
import { outOfBandUri, withParameters } from '../applications/redirect-uris.ts';
import type { IdentityContext } from '../context.ts';
import { RefusedRequest, UntrustedRequest, unpack } from '../oauth/authorization-request.ts';
import { toOAuthError } from '../oauth/oauth-error.ts';
import { isTls } from './cookies.ts';
import { type FormName, UnverifiedForm } from './forms.ts';
import { findReturnTo, isReturnTo } from './return-to.ts';
import { sendPage, setPageHeaders } from './views/layout.ts';
import { messagePage } from './views/message.ts';

/** Wraps a page's handler: page headers, and errors as pages. */
export function pageEndpoint(
  ctx: IdentityContext,
  path: string,
  work: (req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req, res, _next) => {
    res.locals.route = path;
    setPageHeaders(res, isTls(ctx));
    try {
      await work(req, res);
    } catch (thrown) {
      showFailure(ctx, res, thrown);
    }
  };
}

/**
 * Redirects to a page of identity or the console. The host comes from the configuration, never from
 * the request.
 */
export function redirectToPage(ctx: IdentityContext, res: Response, path: string): void {
  redirect(res, `${ctx.config.common.publicUrl}${path}`);
}

/**
 * Redirects to the destination of a log-in: a packed authorization request, or a page of the
 * console. To the log-in page when the subject is empty.
 */
export function redirectToRequest(ctx: IdentityContext, res: Response, subject: string): void {
  redirectToPage(ctx, res, findReturnTo(ctx, subject) ?? requestPath(subject));
}

/**
 * The path where a log-in begins again: the packed authorization request, which is validated there,
 * or else the log-in page.
 */
export function requestPath(packed: string): `/oauth/${string}` {
  if (packed === '') return '/oauth/login';
  const query = new URLSearchParams(unpack(packed));
  return isReturnTo(packed) ? `/oauth/login?${query}` : `/oauth/authorize?${query}`;
}

/** The path of the page for a new password, which keeps the authorization request. */
export function forgotPath(packed: string): `/oauth/${string}` {
  if (isReturnTo(packed)) return '/oauth/password/forgot';
  return `/oauth/password/forgot${packed === '' ? '' : `?${new URLSearchParams(unpack(packed))}`}`;
}

type Destination = { redirectUri: string; state: string | undefined };

/** Redirects to the client with an authorization response. */
export function redirectToClient(
  ctx: IdentityContext,
  res: Response,
  { redirectUri, state }: Destination,
  parameters: Record<string, string>,
): void {
  const iss = ctx.config.common.publicUrl;
  redirect(res, withParameters(redirectUri, { ...parameters, ...(state === undefined ? {} : { state }), iss }));
}

// 303 makes the browser use GET.
function redirect(res: Response, address: string): void {
  res.status(303).set('Location', address).end();
}

function showFailure(ctx: IdentityContext, res: Response, thrown: unknown): void {
  if (thrown instanceof UnverifiedForm) showUnverifiedForm(res, thrown);
  else if (thrown instanceof UntrustedRequest)
    showMessage(res, 400, 'This request can’t be accepted', [
      thrown.message,
      'Nothing was allowed. Contact the provider of the application that sent you here.',
    ]);
  else if (thrown instanceof RefusedRequest) {
    const { code, redirectUri, message } = thrown;
    if (redirectUri === outOfBandUri) showMessage(res, 400, 'The request was refused', [`${code}: ${message}`]);
    else redirectToClient(ctx, res, thrown, { error: code, error_description: message });
  } else {
    const error = toOAuthError(ctx, res, thrown);
    res.set(error.headers);
    const reference = error.status >= 500 ? [`Reference: ${res.locals.requestId}`] : [];
    showMessage(res, error.status, 'That did not work', [error.message, ...reference]);
  }
}

// Where the user starts again after an unverified form. The subject is unverified; the pages
// validate it.
const restartPaths = {
  'log in': requestPath,
  consent: requestPath,
  'log out': requestPath,
  'take back': () => '/oauth/applications',
  'forgot password': forgotPath,
  'set password': () => '/oauth/password',
} as const satisfies Record<FormName, (subject: string) => string>;

// A page left open while the user logged in or out elsewhere ends here, too, so the page links to a
// restart.
function showUnverifiedForm(res: Response, { form, subject, message }: UnverifiedForm): void {
  const link = { href: restartPaths[form](subject), text: 'Begin again' };
  showMessage(res, 403, 'This form can’t be accepted', [message, 'Nothing was done.'], link);
}

function showMessage(
  res: Response,
  status: number,
  title: string,
  sentences: string[],
  link?: { href: string; text: string },
): void {
  sendPage(res, { title, status, body: messagePage({ title, sentences, link }) });
}
