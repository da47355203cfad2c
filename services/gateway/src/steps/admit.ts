// Payment and allowance: a call is admitted before it is forwarded, counts when its answer begins, and is put back when it
// never had one (design 3.10).
import type { Request, RequestHandler, Response } from 'express';
import { callOf, learn, whenOver } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { AccountMeter } from '../metering/account-meter.ts';
import type { ApiRoute } from '../routes.ts';
import type { Token } from '../tokens/token.ts';
import { hasBody } from './check-framing.ts';

/** Lets a call in; 402 when writes are blocked, 429 when the allowance is used up, 503 when that can't be found out. */
export function admit(ctx: GatewayContext): RequestHandler {
  return async (req, res, next) => {
    const { route, meter, token } = callOf(res) as { route: ApiRoute; meter: AccountMeter; token: Token };
    const isWrite = route.method !== 'GET';
    const ticket = meter.tryAdmit(isWrite) ?? (await meter.admit(isWrite));
    learn(res, { ticket });
    if (res.destroyed) meter.putBack(ticket);
    else whenOver(res, () => callEnds(req, res));
    if (route.settle) await ctx.meter.settle(token.accountId);
    next();
  };
}

/**
 * A service's answer begins: the call counts now, before the client sees any of it. Answers what of the allowance the client
 * is shown, if anything.
 */
export function answerBegins(req: Request, res: Response, status: number): Record<string, string> {
  const { ticket, token, route } = callOf(res);
  if (!ticket || !token || !route) return {};
  ticket.meter.answered(ticket, status, {
    method: req.method,
    resource: route.resource,
    applicationId: token.applicationId ?? 0,
  });
  return ticket.meter.headers();
}

// A call whose answer never began is put back, unless the client hung up after the service had got all of the request: then
// it was done, and hanging up early is no way to call for nothing.
function callEnds(req: Request, res: Response): void {
  const { ticket, forwarding } = callOf(res);
  if (!ticket || ticket.ended) return;
  const wasSent = forwarding?.wasSent && (req.complete || !hasBody(req));
  if (wasSent && !res.headersSent) answerBegins(req, res, 499);
  else ticket.meter.putBack(ticket);
}
