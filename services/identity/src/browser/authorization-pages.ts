// The authorization endpoint: whoever is logged in is asked whether the client may act for him, unless he has said so before.
// A request travels through log-in and consent in signed forms, and is read anew at each step.

import type { RequestHandler, Response } from 'express';
import { outOfBandUri } from '../applications/redirect-uris.ts';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import type { NewCode } from '../oauth/authorization-code.ts';
import {
  type AuthorizationRequest,
  packWithScopes,
  RefusedRequest,
  readAuthorizationRequest,
  unpack,
} from '../oauth/authorization-request.ts';
import { Parameters, readQuery } from '../oauth/parameters.ts';
import { includesScopes, parseScopes } from '../tokens/scopes.ts';
import { allow, createConsentedCode, findConsentedScopes } from './consents.ts';
import { csrfFields, readVerifiedForm } from './forms.ts';
import { showLogIn } from './log-in-pages.ts';
import { pageEndpoint, redirectToClient, redirectToRequest } from './page-endpoint.ts';
import { ensureSessionId, findSessionUser, type SessionUser } from './sessions.ts';
import { codePage, consentPage } from './views/consent.ts';
import { formTargetOf, sendPage } from './views/layout.ts';

/** GET /oauth/authorize: the log-in page; for whoever is logged in the consent page, or the code at once if he has allowed it. */
export function showAuthorization(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const request = await readAuthorizationRequest(ctx, readQuery(req));
    const sessionId = ensureSessionId(ctx, req, res);
    const person = await findSessionUserFor(ctx, sessionId, request);
    if (!person) return showLogIn(ctx, req, res, sessionId, { request });
    const code = asksEachTime(request)
      ? undefined
      : await createConsentedCode(ctx, sessionId, codeFor(request, person));
    if (code !== undefined) return redirectToClient(ctx, res, request, { code });
    await showConsent(ctx, res, sessionId, request, person);
  });
}

/** POST /oauth/authorize: the decision; the client gets a code or access_denied. */
export function submitDecision(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const { posted, about, sessionId } = await readVerifiedForm(ctx, req, res, 'consent');
    const request = await readAuthorizationRequest(ctx, new Parameters(unpack(about)));
    const person = await findSessionUserFor(ctx, sessionId, request);
    if (!person) return redirectToRequest(ctx, res, about);
    const { client, redirectUri, state, scope } = request;
    if (posted.find('decision') !== 'allow')
      throw new RefusedRequest('access_denied', 'The user did not allow it.', redirectUri, state);
    const code = await allow(ctx, readOrigin(req), sessionId, codeFor(request, person));
    if (code === undefined) return redirectToRequest(ctx, res, about);
    ctx.logger.info(
      { account_id: client.account_id, user_id: person.id, application_id: client.id, scope },
      'access allowed',
    );
    if (redirectUri === outOfBandUri) return sendPage(res, { title: 'Your code', body: codePage(client.name, code) });
    redirectToClient(ctx, res, request, { code });
  });
}

// Somebody of another account is nobody here (contract: the application's account must equal the user's).
async function findSessionUserFor(
  ctx: IdentityContext,
  sessionId: string | undefined,
  request: AuthorizationRequest,
): Promise<SessionUser | undefined> {
  const person = await findSessionUser(ctx, sessionId);
  return person?.account_id === request.client.account_id ? person : undefined;
}

/**
 * A code that shows on a page needs somebody to read it. A public application on the person's own machine can't prove that it is
 * itself: any program there may take its port or its scheme, ask in its name, and would be answered without anybody seeing it
 * (RFC 8252, 8.6).
 */
function asksEachTime({ client, redirectUri, wantsConsent }: AuthorizationRequest): boolean {
  const isOwnMachine = !redirectUri.startsWith('https:');
  return wantsConsent || redirectUri === outOfBandUri || (!client.confidential && isOwnMachine);
}

function codeFor({ client, redirectUri, scope, codeChallenge }: AuthorizationRequest, person: SessionUser): NewCode {
  return { client, user_id: person.id, redirect_uri: redirectUri, scope, code_challenge: codeChallenge };
}

async function showConsent(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  request: AuthorizationRequest,
  person: SessionUser,
): Promise<void> {
  const { client, redirectUri, packed } = request;
  const [account, held] = await Promise.all([
    ctx.prisma.account.findUniqueOrThrow({ where: { id: client.account_id }, select: { name: true } }),
    findConsentedScopes(ctx.prisma, person.id, client.id),
  ]);
  const wanted = parseScopes(request.scope) ?? [];
  const isHeld = (scope: (typeof wanted)[number]) => includesScopes(held, [scope]);
  sendPage(res, {
    title: `Allow ${client.name}?`,
    formTarget: formTargetOf(redirectUri),
    body: consentPage({
      applicationName: client.name,
      accountName: account.name,
      email: person.email,
      asked: { anew: wanted.filter((scope) => !isHeld(scope)), allowed: wanted.filter(isHeld) },
      destination:
        redirectUri === outOfBandUri ? 'You will get a code to copy.' : `You will be sent to ${placeOf(redirectUri)}.`,
      isKept: !asksEachTime({ ...request, wantsConsent: false }),
      hidden: csrfFields(ctx, sessionId, 'consent', packWithScopes(request)),
      logOut: csrfFields(ctx, sessionId, 'log out', packed),
    }),
  });
}

function placeOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' ? `the app ${protocol.slice(0, -1)}` : host;
}
