// The addresses of the OAuth server on identity's HTTP server; the gateway passes them through untouched.
import type { Express, RequestHandler } from 'express';
import type { IdentityContext } from '../context.ts';
import { styleSheet } from '../pages/style.ts';
import { showApplications, takeApplicationBack } from '../people/application-pages.ts';
import { showLogOut, showOwnLogIn, takeLogIn, takeLogOut } from '../people/log-in-pages.ts';
import { showForgotPassword, showPasswordForm, takeForgotPassword, takePassword } from '../people/password-pages.ts';
import { showAuthorization, takeDecision } from './authorize.ts';
import { keysEndpoint, metadataEndpoint } from './metadata.ts';
import { nothingHere, onlyMethods } from './oauth-error.ts';
import { introspectEndpoint, revokeEndpoint } from './revoke.ts';
import { tokenEndpoint } from './token.ts';

export function mountOAuth(ctx: IdentityContext): (app: Express) => void {
  return (app) => {
    // For programs.
    app.route('/oauth/token').post(tokenEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/oauth/revoke').post(revokeEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/oauth/introspect').post(introspectEndpoint(ctx)).all(onlyMethods('POST'));
    app.route('/.well-known/oauth-authorization-server').get(metadataEndpoint(ctx)).all(onlyMethods('GET'));
    app.route('/.well-known/jwks.json').get(keysEndpoint(ctx)).all(onlyMethods('GET'));

    // For people.
    const page = (path: string, show: RequestHandler, take: RequestHandler) =>
      app.route(path).get(show).post(take).all(onlyMethods('GET, POST'));
    page('/oauth/authorize', showAuthorization(ctx), takeDecision(ctx));
    page('/oauth/login', showOwnLogIn(ctx), takeLogIn(ctx));
    page('/oauth/logout', showLogOut(ctx), takeLogOut(ctx));
    page('/oauth/applications', showApplications(ctx), takeApplicationBack(ctx));
    page('/oauth/password', showPasswordForm(ctx), takePassword(ctx));
    page('/oauth/password/forgot', showForgotPassword(ctx), takeForgotPassword(ctx));
    app.get('/oauth/style.css', (_req, res) => {
      res.locals.route = '/oauth/style.css';
      res.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').send(styleSheet);
    });
    app.use('/oauth', nothingHere);
  };
}
