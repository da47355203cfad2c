// The authorization endpoint and its pages: log in, allow or refuse, log out. A request travels through all of them in signed
// forms, and is read anew at each step.
import type { Request, RequestHandler, Response } from 'express';
import type { IdentityContext } from '../context.ts';
import { formTargetOf, sendPage, setPageHeaders } from '../pages/layout.ts';
import { codePage, consentPage, logInPage, messagePage } from '../pages/pages.ts';
import { outOfBandUri, withParameters } from '../redirect-uris.ts';
import { createCode } from './authorization-code.ts';
import {
  type AuthorizationRequest,
  RefusedRequest,
  readAuthorizationRequest,
  UntrustedRequest,
  unpack,
} from './authorization-request.ts';
import { logIn } from './log-in.ts';
import { toOAuthError } from './oauth-error.ts';
import { Parameters, readPostedForm, readQuery } from './parameters.ts';
import { parseScopes } from './scopes.ts';
import {
  beginSession,
  csrfToken,
  endSession,
  ensureSessionId,
  findPerson,
  findSessionId,
  isCsrfToken,
  type Person,
  rememberDevice,
} from './sessions.ts';

/** GET /oauth/authorize: the log-in page, or the consent page for whoever is logged in. */
export function showAuthorization(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const request = await readAuthorizationRequest(ctx, readQuery(req));
    const sessionId = ensureSessionId(ctx, req, res);
    const person = await findPersonFor(ctx, sessionId, request);
    if (!person) return showLogIn(ctx, res, sessionId, request);
    await showConsent(ctx, res, sessionId, request, person);
  });
}

/** POST /oauth/login: checks the password and goes back to the request. */
export function takeLogIn(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/login', async (req, res) => {
    const { posted, carried } = await readOurForm(ctx, req, res, 'log in');
    const request = await readAuthorizationRequest(ctx, new Parameters(unpack(carried)));
    const email = posted.find('email') ?? '';
    const outcome = await logIn(ctx, req, request.client, email, posted.find('password') ?? '');
    if ('person' in outcome) {
      await beginSession(ctx, req, res, outcome.person);
      rememberDevice(ctx, res, outcome.person.id);
      return backToRequest(ctx, res, carried);
    }
    if (outcome.waitSeconds > 0) res.set('Retry-After', String(outcome.waitSeconds));
    const status = outcome.waitSeconds > 0 ? 429 : 422;
    showLogIn(ctx, res, findSessionId(ctx, req) as string, request, { email, problem: outcome.problem, status });
  });
}

/** POST /oauth/authorize: the decision; the client gets a code or access_denied. */
export function takeDecision(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const { posted, carried } = await readOurForm(ctx, req, res, 'consent');
    const request = await readAuthorizationRequest(ctx, new Parameters(unpack(carried)));
    const person = await findPersonFor(ctx, findSessionId(ctx, req), request);
    if (!person) return backToRequest(ctx, res, carried);
    const { client, redirectUri, state, scope, codeChallenge } = request;
    if (posted.find('decision') !== 'allow')
      throw new RefusedRequest('access_denied', 'The user did not allow it.', redirectUri, state);
    const code = await createCode(ctx, {
      client,
      user_id: person.id,
      redirect_uri: redirectUri,
      scope,
      code_challenge: codeChallenge,
    });
    ctx.logger.info(
      { account_id: client.account_id, user_id: person.id, application_id: client.id, scope },
      'access allowed',
    );
    if (redirectUri === outOfBandUri) return sendPage(res, { title: 'Your code', body: codePage(client.name, code) });
    answerClient(ctx, res, redirectUri, state, { code });
  });
}

/** POST /oauth/logout: ends the session and goes back to the request. */
export function takeLogOut(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/logout', async (req, res) => {
    const { carried } = await readOurForm(ctx, req, res, 'log out');
    await endSession(ctx, req, res);
    backToRequest(ctx, res, carried);
  });
}

// Somebody of another account is nobody here (contract: the application's account must equal the user's).
async function findPersonFor(
  ctx: IdentityContext,
  sessionId: string | undefined,
  request: AuthorizationRequest,
): Promise<Person | undefined> {
  const person = await findPerson(ctx, sessionId);
  return person?.account_id === request.client.account_id ? person : undefined;
}

type Retry = { email: string; problem: string; status: number };

function showLogIn(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  request: AuthorizationRequest,
  retry?: Retry,
): void {
  const hidden = carry(ctx, sessionId, 'log in', request.packed);
  sendPage(res, {
    title: retry ? 'Log in again' : 'Log in',
    status: retry?.status,
    formTarget: formTargetOf(request.redirectUri),
    body: logInPage({ applicationName: request.client.name, hidden, email: retry?.email, problem: retry?.problem }),
  });
}

async function showConsent(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  { client, redirectUri, scope, packed }: AuthorizationRequest,
  person: Person,
): Promise<void> {
  const account = await ctx.prisma.account.findUniqueOrThrow({
    where: { id: client.account_id },
    select: { name: true },
  });
  const outOfBand = redirectUri === outOfBandUri;
  sendPage(res, {
    title: `Allow ${client.name}?`,
    formTarget: formTargetOf(redirectUri),
    body: consentPage({
      applicationName: client.name,
      accountName: account.name,
      email: person.email,
      scopes: parseScopes(scope) ?? [],
      destination: outOfBand ? 'You will get a code to copy.' : `You will be sent to ${placeOf(redirectUri)}.`,
      hidden: carry(ctx, sessionId, 'consent', packed),
      logOut: carry(ctx, sessionId, 'log out', packed),
    }),
  });
}

function placeOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' ? `the app ${protocol.slice(0, -1)}` : host;
}

type FormName = 'log in' | 'consent' | 'log out';

/** What a form carries unseen: the request it is about, and the proof that we made the form for this visitor and request. */
function carry(ctx: IdentityContext, sessionId: string, form: FormName, packed: string): Record<string, string> {
  return { request: packed, csrf: csrfToken(ctx, sessionId, form, packed) };
}

/** Reads a form of ours; one that we didn't make just so for this visitor is refused. */
async function readOurForm(ctx: IdentityContext, req: Request, res: Response, form: FormName) {
  const posted = await readPostedForm(req, res);
  const carried = posted.find('request') ?? '';
  if (!isCsrfToken(ctx, findSessionId(ctx, req), form, carried, posted.find('csrf'))) throw new ForeignForm();
  return { posted, carried };
}

class ForeignForm extends Error {}

// 303, so that the browser asks with GET; our own address comes from configuration, the rest is encoded.
function backToRequest(ctx: IdentityContext, res: Response, packed: string): void {
  redirect(res, `${ctx.config.common.publicUrl}/oauth/authorize?${unpack(packed)}`);
}

function answerClient(
  ctx: IdentityContext,
  res: Response,
  redirectUri: string,
  state: string | undefined,
  answer: Record<string, string>,
): void {
  const iss = ctx.config.common.publicUrl;
  redirect(res, withParameters(redirectUri, { ...answer, ...(state === undefined ? {} : { state }), iss }));
}

function redirect(res: Response, address: string): void {
  res.status(303).set('Location', address).end();
}

/** An endpoint for people: failures are pages, or go to the client where it can be trusted. */
function pageEndpoint(
  ctx: IdentityContext,
  path: string,
  work: (req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req, res, _next) => {
    res.locals.route = path;
    setPageHeaders(res, ctx.config.common.publicUrl.startsWith('https:'));
    try {
      await work(req, res);
    } catch (thrown) {
      showFailure(ctx, res, thrown);
    }
  };
}

function showFailure(ctx: IdentityContext, res: Response, thrown: unknown): void {
  if (thrown instanceof ForeignForm)
    showMessage(
      res,
      403,
      'This form can’t be accepted',
      'This form is out of date or was not made here.',
      'Go back to the application and begin again.',
    );
  else if (thrown instanceof UntrustedRequest) showMessage(res, 400, 'This request can’t be accepted', thrown.message);
  else if (thrown instanceof RefusedRequest) {
    const { code, redirectUri, state, message } = thrown;
    if (redirectUri === outOfBandUri) showMessage(res, 400, 'The request was refused', `${code}: ${message}`);
    else answerClient(ctx, res, redirectUri, state, { error: code, error_description: message });
  } else {
    const error = toOAuthError(ctx, res, thrown);
    res.set(error.headers);
    showMessage(res, error.status, 'That did not work', error.message);
  }
}

function showMessage(res: Response, status: number, title: string, ...sentences: string[]): void {
  sendPage(res, { title, status, body: messagePage(title, sentences) });
}
