// The last step of a request that a service answers.
import type { RequestHandler } from 'express';
import { callOf, type Destination } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import { forwardedHeaders } from '../forwarding/forwarded-headers.ts';

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
