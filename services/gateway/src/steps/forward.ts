// The last step of a request that a service answers.
import { consolePrefix } from '@almanac/service-kit/http/path';
import type { RequestHandler } from 'express';
import { callOf, type Destination } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { forwardedHeaders } from '../forwarding/forwarded-headers.ts';

/** Removes the prefix of the console from the address: services know a call by one address. */
export const forwardAsApi: RequestHandler = (req, _res, next) => {
  req.url = req.url.slice(consolePrefix.length - 1);
  next();
};

/** Forwards the request to its destination; 503 when the service is overloaded or unreachable. */
export function forward({ upstreams, publicUrl }: GatewayContext): RequestHandler {
  return (req, res, next) => {
    if (res.destroyed) return; // the client has disconnected
    const { requestId, clientAddress, context, destination } = callOf(res);
    const { isUpload, answerWithinMs, keepCredentials, service } = destination as Destination;
    const headers = forwardedHeaders(req.headers, {
      requestId,
      clientAddress,
      publicUrl,
      context,
      answerWithinMs: context === undefined || isUpload ? undefined : answerWithinMs,
      keepCredentials,
    });
    upstreams[service].forward(req, res, next, headers);
  };
}
