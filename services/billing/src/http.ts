// The REST endpoints of billing.
import type { Route } from '@almanac/service-kit/api/route';
import type { BillingContext } from './context.ts';
import { usageRoutes } from './usage.routes.ts';

/** Every endpoint this service answers. */
export function routes(ctx: BillingContext): Route[] {
  return usageRoutes(ctx);
}
