// A call whose answer has no end: it is watched from here on, so that it ends with its token.
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import type { GatewayContext } from '../context.ts';

/** Watches calls of routes that stream; 503 while this gateway stops. */
export const holdStream =
  ({ streams }: GatewayContext): RequestHandler =>
  (req, res, next) => {
    if (callOf(res).route?.stream && req.method === 'GET' && !res.destroyed) streams.add(req, res);
    next();
  };
