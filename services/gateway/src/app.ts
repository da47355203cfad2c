// The steps of every request, from top to bottom. An error of any step is answered by
// `handleError`.
import { addressNotFound } from '@almanac/service-kit/http/path';
import express, { type Express, type RequestHandler } from 'express';
import { callOf } from './call.ts';
import type { GatewayContext } from './context.ts';
import { documentRoutes } from './documents/documents.ts';
import { isSessionPath, matchPublicPath } from './public-paths.ts';
import { addDefaultHeaders } from './steps/add-default-headers.ts';
import { admit, admitUncounted } from './steps/admit.ts';
import { allowOrigin } from './steps/allow-origin.ts';
import { authenticate } from './steps/authenticate.ts';
import { checkFraming, checkSize } from './steps/check-framing.ts';
import { checkScope } from './steps/check-scope.ts';
import { compress } from './steps/compress.ts';
import { authenticateSession, checkConfirmed } from './steps/console/authenticate-session.ts';
import { checkOrigin } from './steps/console/check-origin.ts';
import { findPublicPath } from './steps/find-public-path.ts';
import { findRoute, isApiPath, isConsoleCall } from './steps/find-route.ts';
import { forward, forwardAsApi } from './steps/forward.ts';
import { handleError } from './steps/handle-error.ts';
import { limitAccount, limitNetwork, limitPerson } from './steps/limit-caller.ts';
import { shedLoad } from './steps/shed-load.ts';
import { signContext } from './steps/sign-context.ts';
import { startCall } from './steps/start-call.ts';
import { holdStream } from './streams/hold-stream.ts';

/** The gateway's Express app. While `isOverloaded`, it answers health checks only. */
export function createApp(ctx: GatewayContext, isOverloaded: () => boolean): Express {
  const { limits, compression, console: hasConsole } = ctx.config;
  const limitOfAccount = limitAccount(limits); // one for both ways to call
  const compressed = compression ? [compress()] : [];

  const api = createRouter([
    findRoute(ctx),
    checkSize,
    authenticate(ctx),
    checkScope(ctx),
    limitOfAccount,
    admit(ctx),
    signContext(ctx),
    holdStream(ctx),
    ...compressed,
    forward(ctx),
  ]);

  // The same calls by pages of the console, with the session's cookie instead of a token (ADR 30).
  const consoleCalls = createRouter([
    checkOrigin(ctx),
    findRoute(ctx),
    checkSize,
    authenticateSession(ctx),
    limitPerson(limits),
    limitOfAccount,
    checkConfirmed(ctx),
    admitUncounted(ctx),
    signContext(ctx),
    holdStream(ctx),
    ...compressed,
    forwardAsApi,
    forward(ctx),
  ]);

  const publicPaths = createRouter([findPublicPath(ctx), checkSize, limitNetwork(limits), forward(ctx)]);

  const app = express();
  app.disable('x-powered-by').disable('etag').set('case sensitive routing', true).set('strict routing', true);
  app.use(startCall(ctx));
  app.use(checkFraming);
  app.use(allowOrigin(ctx));
  app.use(shedLoad(isOverloaded));
  app.use(where(isApiPath, api));
  if (hasConsole) {
    app.use(where(isConsoleCall, consoleCalls));
    app.use(where(isSessionPath, checkOrigin(ctx)));
  }
  app.use(where((path) => matchPublicPath(path, hasConsole) !== undefined, publicPaths));
  app.use(addDefaultHeaders(ctx.defaultHeaders));
  app.use(documentRoutes(ctx));
  app.use(() => {
    throw addressNotFound();
  });
  app.use(handleError(ctx));
  return app;
}

const createRouter = (steps: RequestHandler[]) => express.Router().use(...steps);

// Used instead of Express' own paths: Express decodes a path to compare it, and removes its prefix
// from the URL that is forwarded.
const where =
  (matches: (path: string) => boolean, steps: RequestHandler): RequestHandler =>
  (req, res, next) => {
    if (matches(callOf(res).path)) steps(req, res, next);
    else next();
  };
