// The route of an API call, which names the service that answers.
import { ServiceError } from '@almanac/service-kit/errors';
import { addressNotFound, apiPrefix, consolePrefix, readPath } from '@almanac/service-kit/http/path';
import { limits } from '@almanac/service-kit/limits';
import type { RequestHandler } from 'express';
import { callOf, updateCall } from '../call.ts';
import type { GatewayTimeouts } from '../config.ts';
import type { GatewayContext } from '../context.ts';
import { createRouteMatcher } from '../route-matcher.ts';
import { type ApiRoute, apiRoutes } from '../routes.ts';
import { answerOptions } from './allow-origin.ts';

export const isApiPath = (path: string): boolean => path.startsWith(`${apiPrefix}/`);

/** A call of the API by a page of the console. */
export const isConsoleCall = (path: string): boolean => path.startsWith(`${consolePrefix.slice(0, -1)}${apiPrefix}/`);

/** Finds the route; 404 and 405 when there is none. Answers OPTIONS. */
export function findRoute(ctx: GatewayContext): RequestHandler {
  const match = createRouteMatcher(apiRoutes);
  return (req, res, next) => {
    const { path, isConsole } = callOf(res);
    const segments = readPath(path);
    const matched = segments && match(segments.slice(isConsole ? 3 : 2));
    if (!matched) throw addressNotFound();
    const route = matched.methods.get(req.method);
    if (route) {
      updateCall(res, { route, destination: destinationOf(route, ctx.config.timeouts) });
      next();
    } else if (req.method === 'OPTIONS') answerOptions(ctx, req, res, matched.allow);
    else
      throw new ServiceError(
        'method_not_allowed',
        {
          code: 'method_not_allowed',
          message: `Use ${matched.allow}.`,
          params: { allowed: matched.allow.split(', ') },
        },
        { headers: { Allow: matched.allow } },
      );
  };
}

const destinationOf = ({ service, upload, method }: ApiRoute, { readMs, writeMs }: GatewayTimeouts) => ({
  service,
  bodyLimit: upload ? limits.uploadBytes : limits.jsonBodyBytes,
  isUpload: upload,
  answerWithinMs: method === 'GET' ? readMs : writeMs,
  keepCredentials: false,
});
