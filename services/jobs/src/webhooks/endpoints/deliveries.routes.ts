// The REST edge of deliveries: all for administrators (api:admin).
import { bigIdTextSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { JobsContext } from '../../context.ts';
import { idempotencyKeyHeader } from '../../idempotency.ts';
import { deliveryFields, listDeliveries } from './deliveries.ts';
import { resend, sendTest } from './endpoint-acts.ts';

const common = { tag: 'Webhooks', scope: 'api:admin', extension: true } as const;
const params = { id: idTextSchema };
const time = z.iso.datetime();
const someTime = time.nullable().meta({ format: 'date-time' });

const deliverySchema = z
  .object({
    id: z.int(),
    webhook_id: z
      .string()
      .meta({ description: 'The header webhook-id: the id of the event, the same each time it is sent.' }),
    event_id: z.int().nullable().meta({ description: 'Null: a test.' }),
    event_type: z.string(),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int(),
    next_attempt_at: someTime,
    last_attempt_at: someTime,
    duration_ms: z.int().nullable().meta({ description: 'Of the last attempt.' }),
    response_status: z.int().nullable().meta({ description: 'The status of the last answer; null: there was none.' }),
    response_body: z.string().nullable().meta({ description: 'The first kilobyte of the last answer.' }),
    error: z.string().nullable().meta({ description: 'Why there was no answer, or no further attempt.' }),
    created_at: time,
    finished_at: someTime,
  })
  .meta({ id: 'WebhookDelivery' });

/** Routes of the deliveries of an endpoint. */
export function deliveryRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/webhook_endpoints/{id}/deliveries',
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook endpoint',
      description: 'For administrators: those of 30 days, the latest first.',
      params,
      query: listParameters,
      response: pageSchema(deliverySchema),
      handle: ({ call, params: { id }, query }) =>
        listDeliveries(ctx, call, id, readListQuery(query, deliveryFields, 'event_type')),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/webhook_endpoints/{id}/deliveries/{delivery_id}/resend',
      operationId: 'resendWebhookDelivery',
      summary: 'Send an event again',
      description:
        'A delivery that has ended becomes a new one. Of one that still waits the next attempt is made at once, in its turn.',
      requestHeaders: idempotencyKeyHeader,
      params: { ...params, delivery_id: bigIdTextSchema },
      response: deliverySchema,
      handle: ({ call, params: { id, delivery_id } }) => resend(ctx, call, id, delivery_id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/webhook_endpoints/{id}/test',
      summary: 'Send a test event',
      description: 'An event of type `webhook.test` is sent once. Its delivery shows what the receiver answered.',
      requestHeaders: idempotencyKeyHeader,
      params,
      status: 201,
      response: deliverySchema,
      handle: ({ call, params: { id } }) => sendTest(ctx, call, id),
    }),
  ];
}
