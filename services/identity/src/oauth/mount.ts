// The addresses of the OAuth server on identity's HTTP server; the gateway passes them through untouched.
import type { Express } from 'express';
import type { IdentityContext } from '../context.ts';
import { styleSheet } from '../pages/style.ts';
import { showAuthorization, takeDecision, takeLogIn, takeLogOut } from './authorize.ts';
import { keysEndpoint, metadataEndpoint } from './metadata.ts';
import { onlyMethods } from './oauth-error.ts';
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
    app.route('/oauth/authorize').get(showAuthorization(ctx)).post(takeDecision(ctx)).all(onlyMethods('GET, POST'));
    app.route('/oauth/login').post(takeLogIn(ctx)).all(onlyMethods('POST'));
    app.route('/oauth/logout').post(takeLogOut(ctx)).all(onlyMethods('POST'));
    app.get('/oauth/style.css', (_req, res) => {
      res.locals.route = '/oauth/style.css';
      res.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').send(styleSheet);
    });
  };
}
