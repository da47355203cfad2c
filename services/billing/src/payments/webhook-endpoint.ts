// POST /webhooks/payments: the endpoint for events of the payment provider. The gateway forwards it
// without a token; the signature is the only authentication. Without a configured secret it is a
// 404.
import { ServiceError } from '@almanac/service-kit/errors';
import { networkOf, readClientAddress } from '@almanac/service-kit/http/client-address';
import { limits } from '@almanac/service-kit/limits';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { BillingContext } from '../context.ts';
import { applyPaymentEvent } from './payment-events.ts';
import type { PaymentProvider } from './payment-provider.ts';

const path = '/webhooks/payments';
/** For one network; the provider repeats messages that were refused. */
export const messagesPerMinute = 600;

/** Mounts the endpoint of a configured provider. */
export function mountPaymentWebhook(app: Express, ctx: BillingContext, provider: PaymentProvider): void {
  const limiter = new RateLimiterMemory({ points: messagesPerMinute, duration: 60 });
  const bytes = express.raw({ type: () => true, limit: limits.webhookBytes, inflate: false });
  app.post(path, limitRate(limiter), bytes, async (req, res) => {
    const event = provider(req.headers, Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
    if (event) {
      const address = readClientAddress(req);
      const isNew = await applyPaymentEvent(ctx, { requestId: res.locals.requestId, address }, event);
      const { id, type, accountId } = event;
      ctx.logger.info(
        { request_id: res.locals.requestId, account_id: accountId, event_id: id, type, repeated: !isNew },
        'an event of the payment provider was applied',
      );
    }
    res.status(204).end();
  });
}

// Runs before the body is read, so that forged messages cost only their headers.
const limitRate = (limiter: RateLimiterMemory) => async (req: Request, _res: Response, next: NextFunction) => {
  try {
    await limiter.consume(networkOf(readClientAddress(req)));
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    throw new ServiceError(
      'too_many_requests',
      { code: 'too_many_requests', message: 'Too many messages from this network; send them again later.' },
      {
        headers: { 'Retry-After': String(seconds) },
      },
    );
  }
  next();
};
