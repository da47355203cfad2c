// The signed call context: the only source of a service's knowledge of the caller
// (docs/adr/0002-reusable-call-context.md).
import type { RequestHandler } from 'express';
import type { AccountMeter } from '../admission/account-meter.ts';
import { contextFor } from '../authentication/call-contexts.ts';
import type { Token } from '../authentication/token.ts';
import { callOf, updateCall } from '../call.ts';
import type { GatewayContext } from '../context.ts';
import type { ApiRoute } from '../routes.ts';

/** Adds the context for the destination. A cached context with the same claims is reused. */
export function signContext(ctx: GatewayContext): RequestHandler {
  return async (_req, res, next) => {
    const { token, meter, route } = callOf(res) as { token: Token; meter: AccountMeter; route: ApiRoute };
    const context = await contextFor(token, meter, route.service, ctx.signContext);
    updateCall(res, { context });
    next();
  };
}
