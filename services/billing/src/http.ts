// Billing over HTTP: usage, and the messages of a payment provider where those are configured.
import type { Route } from '@almanac/service-kit/api/route';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { Express } from 'express';
import type { BillingContext } from './context.ts';
import { createStandardWebhooks } from './payments/standard-webhooks.ts';
import { mountPaymentWebhook } from './payments/webhook-endpoint.ts';
import { usageRoutes } from './usage/usage.routes.ts';

/** The routes of every REST resource that billing owns. */
export function billingRoutes(ctx: BillingContext): Route[] {
  return usageRoutes(ctx);
}

/** Builds the HTTP server. `webhookSecrets`: of the payment provider, if there is one. */
export function createBillingHttp(ctx: BillingContext, runtime: ServiceRuntime, webhookSecrets: string[]): HttpServer {
  return runtime.httpServer({
    routes: billingRoutes(ctx),
    ...(webhookSecrets.length > 0 && {
      mount: (app: Express) => mountPaymentWebhook(app, ctx, createStandardWebhooks(webhookSecrets)),
    }),
  });
}
