// Messages of a payment provider by the Standard Webhooks specification (standardwebhooks.com):
// HMAC-SHA-256 over id, time and the bytes of the body. Two secrets are valid at the same time, so
// that one can be replaced.
import type { IncomingHttpHeaders } from 'node:http';
import { readParameters } from '@almanac/service-kit/api/input';
import { parseJsonBody } from '@almanac/service-kit/api/json-body';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { type BillingStatus, planNames } from '../accounts/plans.ts';
import type { PaymentProvider } from './payment-provider.ts';

/** How far the sender's clock may differ; the specification's library allows the same. */
const toleranceMs = 5 * 60_000;

const accountId = z.int().positive().max(limits.int4);
const plan = z.enum(planNames);
const allowance = z.int().min(0).max(1_000_000_000_000).optional();

// A provider may send further fields; they are ignored.
const messageSchema = z.object({ type: z.string().max(200), timestamp: z.iso.datetime({ offset: true }) });
const paymentSchema = z.object({ data: z.object({ account_id: accountId }) });
const subscriptionSchema = z.object({ data: z.object({ account_id: accountId, plan, allowance }) });

const statusOf: Record<string, BillingStatus> = {
  'payment.failed': 'overdue',
  'payment.succeeded': 'current',
  'subscription.cancelled': 'cancelled',
};

/** The adapter; `secrets` as `BILLING_WEBHOOK_SECRETS` has them. */
export function createStandardWebhooks(secrets: readonly string[]): PaymentProvider {
  const keys = secrets.map((secret) => new Webhook(secret));
  return (headers, body) => {
    const id = requireSignature(keys, headers, body);
    const json = parseJsonBody(body);
    const { type, timestamp } = readParameters(messageSchema, json);
    const occurredAt = new Date(timestamp);
    if (occurredAt.getTime() > Date.now() + toleranceMs)
      throw new ServiceError('bad_request', {
        code: 'out_of_range',
        message: 'timestamp lies in the future.',
        field: 'timestamp',
      });
    const event = { id, type, occurredAt };
    const billingStatus = Object.hasOwn(statusOf, type) ? statusOf[type] : undefined;
    if (billingStatus) {
      const { data } = readParameters(paymentSchema, json);
      return { ...event, accountId: data.account_id, billingStatus, plan: null, allowance: null };
    }
    if (type !== 'subscription.updated') return undefined;
    const { data } = readParameters(subscriptionSchema, json);
    return {
      ...event,
      accountId: data.account_id,
      billingStatus: null,
      plan: data.plan,
      allowance: data.allowance ?? null,
    };
  };
}

// The error does not say which part is invalid: a sender that can't sign must not learn it.
function requireSignature(keys: readonly Webhook[], headers: IncomingHttpHeaders, body: Buffer): string {
  const part = (name: string) => String(headers[`webhook-${name}`] ?? '');
  const signed = {
    'webhook-id': part('id'),
    'webhook-timestamp': part('timestamp'),
    'webhook-signature': part('signature'),
  };
  // Without a dot in the id no other split of the signed text into id, time and body is possible.
  const isWellFormed = /^[\w-]{1,128}$/.test(signed['webhook-id']) && /^\d{1,12}$/.test(signed['webhook-timestamp']);
  if (!isWellFormed || !keys.some((key) => verifies(key, body, signed)))
    throw new ServiceError('bad_request', {
      code: 'invalid_signature',
      message: 'The signature of the message is not valid.',
    });
  return signed['webhook-id'];
}

function verifies(key: Webhook, body: Buffer, headers: Record<string, string>): boolean {
  try {
    key.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
