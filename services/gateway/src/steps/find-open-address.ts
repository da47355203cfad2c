// The destination of a request outside the API.
import { ServiceError } from '@almanac/service-kit/errors';
import { addressNotFound, readPath } from '@almanac/service-kit/http/path';
import type { RequestHandler } from 'express';
import { callOf, learn } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { findOpenAddress, isFromHere, type OpenAddress } from '../open-addresses.ts';
import { answerOptions } from './allow-origin.ts';

/** Finds what answers; 404 and 405 when nothing does. OPTIONS is answered here. */
export function openAddress(ctx: GatewayContext): RequestHandler {
  const { readMs } = ctx.config.timeouts;
  return (req, res, next) => {
    const { path, clientAddress } = callOf(res);
    const found = findOpenAddress(path) as OpenAddress;
    if (!readPath(path) || (found.isLocal && !isFromHere(req, clientAddress))) throw addressNotFound();
    const methods = found.own?.[path] ?? found.methods;
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (req.method === 'OPTIONS') {
      answerOptions(ctx, req, res, allow);
      return;
    }
    if (!methods.includes(req.method))
      throw new ServiceError('method_not_allowed', `Use ${allow}.`, { headers: { Allow: allow } });
    const { service, limit: bodyLimit, keepCredentials } = found;
    const isUpload = req.method === 'PUT';
    learn(res, { destination: { service, bodyLimit, isUpload, answerWithinMs: readMs, keepCredentials } });
    next();
  };
}
