// Paths of the OAuth server. The gateway passes requests for them through unchanged.
import type { Express, RequestHandler } from 'express';
import { showApplications, submitTakeBack } from './browser/application-pages.ts';
import { showAuthorization, submitDecision } from './browser/authorization-pages.ts';
import { showLogOut, showOwnLogIn, submitLogIn, submitLogOut } from './browser/log-in-pages.ts';
import {
  showForgotPassword,
  showPasswordForm,
  submitForgotPassword,
  submitPassword,
} from './browser/password-pages.ts';
import { styleSheet } from './browser/views/style.ts';
import type { IdentityContext } from './context.ts';
import { keysEndpoint, metadataEndpoint } from './oauth/metadata.ts';
import { onlyMethods, unknownPath } from './oauth/oauth-error.ts';
import { introspectEndpoint, revokeEndpoint } from './oauth/revoke-and-introspect.ts';
import { tokenEndpoint } from './oauth/token.ts';

/** Adds the OAuth server's endpoints and pages to identity's HTTP server. */
export function mountOAuth(ctx: IdentityContext): (app: Express) => void {
  return (app) => {
    // Protocol endpoints, called by programs.
    app.route('/oauth/token').post(tokenEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/oauth/revoke').post(revokeEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/oauth/introspect').post(introspectEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/.well-known/oauth-authorization-server').get(metadataEndpoint(ctx)).all(onlyMethods('GET'));
    app.route('/.well-known/jwks.json').get(keysEndpoint(ctx)).all(onlyMethods('GET'));

    // Pages, opened in a browser.
    const page = (path: string, show: RequestHandler, submit: RequestHandler) =>
      app.route(path).get(show).post(submit).all(onlyMethods('GET, POST'));
    page('/oauth/authorize', showAuthorization(ctx), submitDecision(ctx));
    page('/oauth/login', showOwnLogIn(ctx), submitLogIn(ctx));
    page('/oauth/logout', showLogOut(ctx), submitLogOut(ctx));
    page('/oauth/applications', showApplications(ctx), submitTakeBack(ctx));
    page('/oauth/password', showPasswordForm(ctx), submitPassword(ctx));
    page('/oauth/password/forgot', showForgotPassword(ctx), submitForgotPassword(ctx));
    app.get('/oauth/style.css', (_req, res) => {
      res.locals.route = '/oauth/style.css';
      res.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').send(styleSheet);
    });
    app.use('/oauth', unknownPath);
  };
}
