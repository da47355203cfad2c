// A person's own page: which applications act for him, and taking that back.

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

/** GET /oauth/applications: the list; for whoever is not logged in, the log-in page. */
export function showApplications(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/applications', async (req, res) => {
    const sessionId = ensureSessionId(ctx, req, res);
    const person = await findSessionUser(ctx, sessionId);
    if (!person) return redirectToPage(ctx, res, '/oauth/login');
    const [account, applications] = await Promise.all([
      ctx.prisma.account.findUniqueOrThrow({ where: { id: person.account_id }, select: { id: true, name: true } }),
      listAllowedApplications(ctx, person),
    ]);
    sendPage(res, {
      title: 'Your applications',
      wide: true,
      body: applicationsPage({
        email: person.email,
        account,
        applications,
        notice: takeNotice(ctx, req, res),
        revokeConsent: (id) => csrfFields(ctx, sessionId, 'take back', String(id)),
        logOut: csrfFields(ctx, sessionId, 'log out', ''),
      }),
    });
  });
}

/** POST /oauth/applications: takes back what an application may do, tokens and all, and shows the list again. */
export function submitTakeBack(ctx: IdentityContext): RequestHandler {
  return pageEndpoint(ctx, '/oauth/applications', async (req, res) => {
    const { about, sessionId } = await readVerifiedForm(ctx, req, res, 'take back');
    const person = await findSessionUser(ctx, sessionId);
    if (!person) return redirectToPage(ctx, res, '/oauth/login');
    const name = await revokeConsent(ctx, readOrigin(req), person, Number(about));
    if (name !== undefined) setNotice(ctx, res, `${name.slice(0, 300)} can’t act for you any more.`);
    redirectToPage(ctx, res, '/oauth/applications');
  });
}
