// The destination of a request outside the API.
import { ServiceError } from '@almanac/service-kit/errors';
import { addressNotFound, consolePrefix, readPath } from '@almanac/service-kit/http/path';
import type { RequestHandler } from 'express';
import { callOf, updateCall } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { isFromThisMachine, matchPublicPath, type PublicPath } from '../public-paths.ts';
import { answerOptions } from './allow-origin.ts';

/** Finds the service that answers; 404 and 405 when there is none. Answers OPTIONS. */
export function findPublicPath(ctx: GatewayContext): RequestHandler {
  const { readMs } = ctx.config.timeouts;
  return (req, res, next) => {
    const { path, clientAddress } = callOf(res);
    const found = matchPublicPath(path, ctx.config.console) as PublicPath;
    // The console itself is the one address with a slash at its end.
    const isNormal = path === consolePrefix || readPath(path) !== undefined;
    if (!isNormal || (found.isLocal && !isFromThisMachine(req, clientAddress))) throw addressNotFound();
    const methods = found.methodsByPath?.[path] ?? found.methods;
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (req.method === 'OPTIONS') {
      answerOptions(ctx, req, res, allow);
      return;
    }
    if (!methods.includes(req.method))
      throw new ServiceError(
        'method_not_allowed',
        { code: 'method_not_allowed', message: `Use ${allow}.`, params: { allowed: allow.split(', ') } },
        { headers: { Allow: allow } },
      );
    const { service, bodyLimit, keepCredentials } = found;
    const isUpload = req.method === 'PUT';
    updateCall(res, { destination: { service, bodyLimit, isUpload, answerWithinMs: readMs, keepCredentials } });
    next();
  };
}
