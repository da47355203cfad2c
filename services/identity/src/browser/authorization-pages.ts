// The authorization endpoint: asks a logged-in user to allow the client, unless they have allowed
// it before. The request travels through log-in and consent in signed forms and is validated at
// each step.

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
import { createConsentedCode, findConsentedScopes, grantConsent } from './consents.ts';
import { csrfFields, readVerifiedForm } from './forms.ts';
import { showLogIn } from './log-in-pages.ts';
import { pageEndpoint, redirectToClient, redirectToRequest } from './page-endpoint.ts';
import { ensureSessionId, findSessionUser, type SessionUser } from './sessions.ts';
import { codePage, consentPage } from './views/consent.ts';
import { formTargetOf, sendPage } from './views/layout.ts';

/**
 * GET /oauth/authorize: the log-in page, the consent page, or a code at once when the user has
 * consented.
 */
export function showAuthorization(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const request = await readAuthorizationRequest(ctx, readQuery(req));
    const sessionId = ensureSessionId(ctx, req, res);
    const user = await findSessionUserFor(ctx, sessionId, request);
    if (!user) return showLogIn(ctx, req, res, sessionId, { request });
    const code = asksEachTime(request) ? undefined : await createConsentedCode(ctx, sessionId, codeFor(request, user));
    if (code !== undefined) return redirectToClient(ctx, res, request, { code });
    await showConsent(ctx, res, sessionId, request, user);
  });
}

/** POST /oauth/authorize: the user's decision; the client gets a code or access_denied. */
export function submitDecision(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/authorize', async (req, res) => {
    const { posted, subject, sessionId } = await readVerifiedForm(ctx, req, res, 'consent');
    const request = await readAuthorizationRequest(ctx, new Parameters(unpack(subject)));
    const user = await findSessionUserFor(ctx, sessionId, request);
    if (!user) return redirectToRequest(ctx, res, subject);
    const { client, redirectUri, state, scope } = request;
    if (posted.find('decision') !== 'allow')
      throw new RefusedRequest('access_denied', 'The user did not allow it.', redirectUri, state);
    const code = await grantConsent(ctx, readOrigin(req), sessionId, codeFor(request, user));
    if (code === undefined) return redirectToRequest(ctx, res, subject);
    ctx.logger.info(
      { account_id: client.account_id, user_id: user.id, application_id: client.id, scope },
      'access allowed',
    );
    if (redirectUri === outOfBandUri) return sendPage(res, { title: 'Your code', body: codePage(client.name, code) });
    redirectToClient(ctx, res, request, { code });
  });
}

// A user of another account counts as not logged in: the application's account must be the user's.
async function findSessionUserFor(
  ctx: IdentityContext,
  sessionId: string | undefined,
  request: AuthorizationRequest,
): Promise<SessionUser | undefined> {
  const user = await findSessionUser(ctx, sessionId);
  return user?.account_id === request.client.account_id ? user : undefined;
}

/**
 * True when consent must be asked each time: the client wants it, or the code is shown on a page,
 * or the client is a public application on the user's own machine. The last can't prove its
 * identity: any program there could use its port or scheme and get a code without the user's notice
 * (RFC 8252, 8.6).
 */
function asksEachTime({ client, redirectUri, wantsConsent }: AuthorizationRequest): boolean {
  const isOwnMachine = !redirectUri.startsWith('https:');
  return wantsConsent || redirectUri === outOfBandUri || (!client.confidential && isOwnMachine);
}

function codeFor({ client, redirectUri, scope, codeChallenge }: AuthorizationRequest, user: SessionUser): NewCode {
  return { client, user_id: user.id, redirect_uri: redirectUri, scope, code_challenge: codeChallenge };
}

async function showConsent(
  ctx: IdentityContext,
  res: Response,
  sessionId: string,
  request: AuthorizationRequest,
  user: SessionUser,
): Promise<void> {
  const { client, redirectUri, packed } = request;
  const [account, held] = await Promise.all([
    ctx.prisma.account.findUniqueOrThrow({ where: { id: client.account_id }, select: { name: true } }),
    findConsentedScopes(ctx.prisma, user.id, client.id),
  ]);
  const wanted = parseScopes(request.scope) ?? [];
  const isHeld = (scope: (typeof wanted)[number]) => includesScopes(held, [scope]);
  sendPage(res, {
    title: `Allow ${client.name}?`,
    formTarget: formTargetOf(redirectUri),
    body: consentPage({
      applicationName: client.name,
      accountName: account.name,
      email: user.email,
      asked: { added: wanted.filter((scope) => !isHeld(scope)), allowed: wanted.filter(isHeld) },
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
