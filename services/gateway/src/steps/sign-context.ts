// The signed call context (docs/adr/0002-reusable-call-context.md): all that a service knows of a caller comes from it.
import type { RequestHandler } from 'express';
import { callOf, learn } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { AccountMeter } from '../metering/account-meter.ts';
import type { ApiRoute } from '../routes.ts';
import { contextFor } from '../tokens/call-contexts.ts';
import type { Token } from '../tokens/token.ts';

/** Adds the context for the service that answers; the last one is used again while it says the same. */
export function signContext(ctx: GatewayContext): RequestHandler {
  return async (_req, res, next) => {
    const { token, meter, route } = callOf(res) as { token: Token; meter: AccountMeter; route: ApiRoute };
    const { service } = route;
    const context = await contextFor(token, meter, service, ctx.signContext);
    learn(res, { context });
    next();
  };
}
