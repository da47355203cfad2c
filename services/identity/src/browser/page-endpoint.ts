// An endpoint for people: its failures are pages, or go to the client where that can be trusted.
import type { Request, RequestHandler, Response } from 'express';
import { outOfBandUri, withParameters } from '../applications/redirect-uris.ts';
import type { IdentityContext } from '../context.ts';
import { RefusedRequest, UntrustedRequest, unpack } from '../oauth/authorization-request.ts';
import { toOAuthError } from '../oauth/oauth-error.ts';
import { isTls } from './cookies.ts';
import { type FormName, UnverifiedForm } from './forms.ts';
import { sendPage, setPageHeaders } from './views/layout.ts';
import { messagePage } from './views/message.ts';

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

/** Sends the browser to a page of ours, with GET; our own address comes from configuration, never from the request. */
export function redirectToPage(ctx: IdentityContext, res: Response, path: `/oauth/${string}`): void {
  redirect(res, `${ctx.config.common.publicUrl}${path}`);
}

/** Sends the browser back to the authorization request that a form was about; without one, to the log-in page. */
export function redirectToRequest(ctx: IdentityContext, res: Response, packed: string): void {
  redirectToPage(ctx, res, requestPath(packed));
}

/** The page of an authorization request; the log-in page when there is none. The request is read anew there. */
export function requestPath(packed: string): `/oauth/${string}` {
  return packed === '' ? '/oauth/login' : `/oauth/authorize?${new URLSearchParams(unpack(packed))}`;
}

/** The page for those who have forgotten their password, who come from there. */
export function forgotPath(packed: string): `/oauth/${string}` {
  return `/oauth/password/forgot${packed === '' ? '' : `?${new URLSearchParams(unpack(packed))}`}`;
}

type Destination = { redirectUri: string; state: string | undefined };

/** Sends the browser to the client with an answer. */
export function redirectToClient(
  ctx: IdentityContext,
  res: Response,
  { redirectUri, state }: Destination,
  answer: Record<string, string>,
): void {
  const iss = ctx.config.common.publicUrl;
  redirect(res, withParameters(redirectUri, { ...answer, ...(state === undefined ? {} : { state }), iss }));
}

// 303, so that the browser asks with GET.
function redirect(res: Response, address: string): void {
  res.status(303).set('Location', address).end();
}

function showFailure(ctx: IdentityContext, res: Response, thrown: unknown): void {
  if (thrown instanceof UnverifiedForm) showUnverifiedForm(res, thrown);
  else if (thrown instanceof UntrustedRequest)
    showMessage(res, 400, 'This request can’t be accepted', [
      thrown.message,
      'Nothing was allowed. Tell whoever runs the application that sent you here.',
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

// Where a form is to be had anew. What it says to be about is unproven, and is read there as if it were the visitor's own word.
const beginnings = {
  'log in': requestPath,
  consent: requestPath,
  'log out': requestPath,
  'take back': () => '/oauth/applications',
  'forgot password': (about) => forgotPath(about),
  'set password': () => '/oauth/password',
} as const satisfies Record<FormName, (about: string) => string>;

// A page that lay open while its visitor logged in or out elsewhere comes here too, so there is a way on.
function showUnverifiedForm(res: Response, { form, about, message }: UnverifiedForm): void {
  const link = { href: beginnings[form](about), text: 'Begin again' };
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
