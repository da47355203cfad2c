// POST /webhooks/payments: where the payment provider tells us what happened. It brings no token: the signature is all. The
// gateway lets it through; without a secret in the configuration there is nothing at this address.

import { ServiceError } from '@almanac/service-kit/errors';
import { networkOf, readClientAddress } from '@almanac/service-kit/http/client-address';
import { limits } from '@almanac/service-kit/limits';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { BillingContext } from '../context.ts';
import { takePaymentEvent } from './payment-events.ts';
import type { PaymentProvider } from './payment-provider.ts';

const path = '/webhooks/payments';
/** From one network; the provider sends again what was refused. */
export const messagesPerMinute = 600;

/** Mounts the endpoint for a provider that is configured. */
export function mountPaymentWebhook(app: Express, ctx: BillingContext, provider: PaymentProvider): void {
  const limiter = new RateLimiterMemory({ points: messagesPerMinute, duration: 60 });
  const bytes = express.raw({ type: () => true, limit: limits.webhookBytes, inflate: false });
  app.post(path, limitRate(limiter), bytes, async (req, res) => {
    const event = provider(req.headers, Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
    if (event) {
      const address = readClientAddress(req);
      const isNew = await takePaymentEvent(ctx, { requestId: res.locals.requestId, address }, event);
      const { id, type, accountId } = event;
      ctx.logger.info(
        { request_id: res.locals.requestId, account_id: accountId, event_id: id, type, repeated: !isNew },
        'the payment provider told of an account',
      );
    }
    res.status(204).end();
  });
}

// Before a byte of the body is read: forging costs us no more than its headers.
const limitRate = (limiter: RateLimiterMemory) => async (req: Request, _res: Response, next: NextFunction) => {
  try {
    await limiter.consume(networkOf(readClientAddress(req)));
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    throw new ServiceError('too_many_requests', 'Too many messages from this network; send them again later.', {
      headers: { 'Retry-After': String(seconds) },
    });
  }
  next();
};
