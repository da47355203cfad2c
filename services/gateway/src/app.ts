// The steps of every request, from top to bottom. An error of any step is answered by
// `handleError`.
import { addressNotFound } from '@almanac/service-kit/http/path';
import express, { type Express, type RequestHandler } from 'express';
import { callOf } from './call.ts';
import type { GatewayContext } from './context.ts';
import { documentRoutes } from './documents/documents.ts';
import { matchPublicPath } from './public-paths.ts';
import { addDefaultHeaders } from './steps/add-default-headers.ts';
import { admit } from './steps/admit.ts';
import { allowOrigin } from './steps/allow-origin.ts';
import { authenticate } from './steps/authenticate.ts';
import { checkFraming, checkSize } from './steps/check-framing.ts';
import { checkScope } from './steps/check-scope.ts';
import { compress } from './steps/compress.ts';
import { findPublicPath } from './steps/find-public-path.ts';
import { findRoute, isApiPath } from './steps/find-route.ts';
import { forward } from './steps/forward.ts';
import { handleError } from './steps/handle-error.ts';
import { limitAccount, limitNetwork } from './steps/limit-caller.ts';
import { shedLoad } from './steps/shed-load.ts';
import { signContext } from './steps/sign-context.ts';
import { startCall } from './steps/start-call.ts';

/** The gateway's Express app. While `isOverloaded`, it answers health checks only. */
export function createApp(ctx: GatewayContext, isOverloaded: () => boolean): Express {
  const { limits, compression } = ctx.config;

  const api = createRouter([
    findRoute(ctx),
    checkSize,
    authenticate(ctx),
    checkScope(ctx),
    limitAccount(limits),
    admit(ctx),
    signContext(ctx),
    ...(compression ? [compress()] : []),
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
  app.use(where((path) => matchPublicPath(path) !== undefined, publicPaths));
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
