// What happens to a request, from top to bottom: a list of steps. A step that throws ends in `refuse`.
import { addressNotFound } from '@almanac/service-kit/http/path';
import express, { type Express, type RequestHandler } from 'express';
import { callOf } from './call.ts';
import type { GatewayContext } from './context.ts';
import { documents } from './documents/documents.ts';
import { findOpenAddress } from './open-addresses.ts';
import { admit } from './steps/admit.ts';
import { allowOrigin } from './steps/allow-origin.ts';
import { authenticate } from './steps/authenticate.ts';
import { checkFraming, checkSize } from './steps/check-framing.ts';
import { checkScope } from './steps/check-scope.ts';
import { setDefaults } from './steps/default-headers.ts';
import { openAddress } from './steps/find-open-address.ts';
import { findRoute, isApiPath } from './steps/find-route.ts';
import { forward } from './steps/forward.ts';
import { limitAccount, limitNetwork } from './steps/limit-caller.ts';
import { openCall } from './steps/open-call.ts';
import { refuse } from './steps/refuse.ts';
import { shedLoad } from './steps/shed-load.ts';
import { signContext } from './steps/sign-context.ts';

/** The gateway's application. While `isOverloaded` it refuses all but questions for its health. */
export function createApp(ctx: GatewayContext, isOverloaded: () => boolean): Express {
  const { limits } = ctx.config;

  const api = createRouter([
    findRoute(ctx),
    checkSize,
    authenticate(ctx),
    checkScope(ctx),
    limitAccount(limits),
    admit(ctx),
    signContext(ctx),
    forward(ctx),
  ]);

  const openAddresses = createRouter([openAddress(ctx), checkSize, limitNetwork(limits), forward(ctx)]);

  const app = express();
  app.disable('x-powered-by').disable('etag').set('case sensitive routing', true).set('strict routing', true);
  app.use(openCall(ctx));
  app.use(checkFraming);
  app.use(allowOrigin(ctx));
  app.use(shedLoad(isOverloaded));
  app.use(where(isApiPath, api));
  app.use(where((path) => findOpenAddress(path) !== undefined, openAddresses));
  app.use(setDefaults(ctx.defaults));
  app.use(documents(ctx));
  app.use(() => {
    throw addressNotFound();
  });
  app.use(refuse(ctx));
  return app;
}

const createRouter = (steps: RequestHandler[]) => express.Router().use(...steps);

// Instead of a path of Express, which would be decoded for the comparison and cut off from what is forwarded.
const where =
  (isOurs: (path: string) => boolean, steps: RequestHandler): RequestHandler =>
  (req, res, next) => {
    if (isOurs(callOf(res).path)) steps(req, res, next);
    else next();
  };
