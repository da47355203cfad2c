// The page of a user's applications: which may act for the user, and taking that back.

import type { RequestHandler } from 'express';
import { readOrigin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { listAllowedApplications, revokeConsent } from './consents.ts';
import { csrfFields, readVerifiedForm } from './forms.ts';
import { setNotice, takeNotice } from './notices.ts';
import { pageEndpoint, redirectToPage } from './page-endpoint.ts';
import { ensureSessionId, findSessionUser } from './sessions.ts';
import { applicationsPage } from './views/applications.ts';
import { sendPage } from './views/layout.ts';

/** GET /oauth/applications: the list; without a session, the log-in page. */
export function showApplications(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/applications', async (req, res) => {
    const sessionId = ensureSessionId(ctx, req, res);
    const user = await findSessionUser(ctx, sessionId);
    if (!user) return redirectToPage(ctx, res, '/oauth/login');
    const [account, applications] = await Promise.all([
      ctx.prisma.account.findUniqueOrThrow({ where: { id: user.account_id }, select: { id: true, name: true } }),
      listAllowedApplications(ctx, user),
    ]);
    sendPage(res, {
      title: 'Your applications',
      wide: true,
      body: applicationsPage({
        email: user.email,
        account,
        applications,
        notice: takeNotice(ctx, req, res),
        takeBack: (id) => csrfFields(ctx, sessionId, 'take back', String(id)),
        logOut: csrfFields(ctx, sessionId, 'log out', ''),
      }),
    });
  });
}

/** POST /oauth/applications: revokes a consent with all its tokens and shows the list again. */
export function submitTakeBack(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/applications', async (req, res) => {
    const { subject, sessionId } = await readVerifiedForm(ctx, req, res, 'take back');
    const user = await findSessionUser(ctx, sessionId);
    if (!user) return redirectToPage(ctx, res, '/oauth/login');
    const name = await revokeConsent(ctx, readOrigin(req), user, Number(subject));
    if (name !== undefined) setNotice(ctx, res, `${name.slice(0, 300)} can’t act for you any more.`);
    redirectToPage(ctx, res, '/oauth/applications');
  });
}
