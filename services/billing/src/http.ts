// The REST endpoints of billing.
import type { Route } from '@almanac/service-kit/api/route';
import type { BillingContext } from './context.ts';
import { usageRoutes } from './usage/usage.routes.ts';

/** All endpoints of this service. */
export function routes(ctx: BillingContext): Route[] {
  return usageRoutes(ctx);
}
