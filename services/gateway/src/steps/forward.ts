// The last step of what a service answers.
import type { RequestHandler } from 'express';
import { callOf, type Destination } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { forwardedHeaders } from '../forwarding/forwarded-headers.ts';

/** Forwards the request to its destination, which answers it; 503 when that is not possible. */
export function forward({ upstreams, publicUrl }: GatewayContext): RequestHandler {
  return (req, res, next) => {
    if (res.destroyed) return; // its client has gone
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
