// The REST edge of webhook endpoints: all for administrators (api:admin).
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import type { JobsContext } from '../../context.ts';
import { idempotencyKeyHeader } from '../../idempotency.ts';
import { maxUrlLength } from '../sending/endpoint-url.ts';
import { replay, rotateSecret } from './endpoint-acts.ts';
import {
  createEndpoint,
  deleteEndpoint,
  endpointFields,
  getEndpoint,
  listEndpoints,
  showEndpoint,
  updateEndpoint,
} from './webhook-endpoints.ts';

const common = { tag: 'Webhooks', scope: 'api:admin', extension: true } as const;
const resource = 'webhook_endpoint';
const params = { id: idTextSchema };
const time = z.iso.datetime();

/** Entries of the lists of an endpoint. */
const maxEntries = 100;
const unique = <T>(list: T[]): T[] => [...new Set(list)];

const endpointSchema = z
  .object({
    id: z.int(),
    url: z.string(),
    description: z.string().nullable(),
    event_types: z.array(z.string()),
    table_definition_ids: z.array(z.int()).meta({ description: 'Empty: of all tables.' }),
    include_rows: z.boolean(),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(['request', 'failures'])
      .nullable()
      .meta({ description: 'Why it is switched off: as requested, or because it failed for three days.' }),
    failing_since: time.nullable().meta({
      format: 'date-time',
      description: 'Since when every attempt has failed; null: the last one was taken, or there was none.',
    }),
    previous_secret_until: time
      .nullable()
      .meta({ format: 'date-time', description: 'Until when the secret before the last rotation signs, too.' }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'WebhookEndpoint' });

const withSecretSchema = endpointSchema
  .extend({
    secret: z.string().meta({
      description:
        'Shown only here, and to the same request with its Idempotency-Key; empty there once it was replaced.',
    }),
  })
  .meta({ id: 'WebhookEndpointWithSecret' });

const eventTypeSchema = z
  .string()
  .max(100)
  .regex(/^(\*|[a-z][a-z_]*(\.[a-z][a-z_]*)*(\.\*)?)$/, 'must be the type of an event, a prefix such as rows.*, or *');

const attributes = {
  url: z
    .string()
    .max(maxUrlLength)
    .refine((text) => !/[\s\p{Cc}]/u.test(text), rule('wrong_format', "can't contain blanks"))
    .meta({ description: 'https, to a public address. Redirects are not followed.' }),
  description: descriptionSchema.optional(),
  event_types: z
    .array(eventTypeSchema)
    .min(1)
    .max(maxEntries)
    .transform(unique)
    .meta({ description: 'Which events are sent: types, prefixes such as `rows.*`, or `*` for all.' }),
  table_definition_ids: z.array(idSchema).max(maxEntries).transform(unique).optional().meta({
    description:
      'Of events about tables, only those about these are sent. Events that are about no table are chosen by their type alone.',
  }),
  include_rows: z.boolean().optional().meta({
    description:
      'Whether messages about up to 100 changed rows have them, in up to 256 kB, as `changes`; default true. Without them, and about more, the receiver reads GET /table_data/changes.',
  }),
  enabled: z.boolean().optional(),
};

/** Routes of webhook endpoints, without their deliveries. */
export function webhookEndpointRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/webhook_endpoints',
      summary: 'List webhook endpoints',
      description: 'For administrators. Never with their secrets.',
      query: listParameters,
      response: pageSchema(endpointSchema),
      handle: ({ call, query }) => listEndpoints(ctx, call, readListQuery(query, endpointFields, 'url')),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/webhook_endpoints/{id}',
      summary: 'Show a webhook endpoint',
      description: 'For administrators. Never with its secret.',
      params,
      response: endpointSchema,
      handle: async ({ call, params: { id } }) => showEndpoint(await getEndpoint(ctx, call, id)),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/webhook_endpoints',
      summary: 'Create a webhook endpoint',
      description:
        'Events from now on are sent to it, signed as Standard Webhooks. The secret is in this answer and never again.',
      requestHeaders: idempotencyKeyHeader,
      example: {
        webhook_endpoint: {
          url: 'https://hooks.example.com/almanac',
          description: 'Keeps the warehouse up to date',
          event_types: ['rows.changed', 'deployment.*'],
        },
      },
      resource,
      attributes,
      status: 201,
      response: withSecretSchema,
      handle: ({ call, attributes }) => createEndpoint(ctx, call, attributes),
    }),
    route({
      ...common,
      method: 'PATCH',
      path: '/webhook_endpoints/{id}',
      summary: 'Change a webhook endpoint',
      description:
        'Switched off, it loses what waits for it. Switched on again, it gets the events from then on; `replay` sends earlier ones.',
      example: { webhook_endpoint: { event_types: ['*'], enabled: true } },
      params,
      resource,
      attributes: {
        ...attributes,
        url: attributes.url.optional(),
        event_types: attributes.event_types.optional(),
      },
      response: endpointSchema,
      handle: ({ call, params: { id }, attributes }) => updateEndpoint(ctx, call, id, attributes),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/webhook_endpoints/{id}',
      summary: 'Delete a webhook endpoint',
      description: 'With its deliveries. Nothing more is sent to it.',
      params,
      status: 204,
      handle: ({ call, params: { id } }) => deleteEndpoint(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/webhook_endpoints/{id}/rotate_secret',
      summary: 'Replace the secret of a webhook endpoint',
      description:
        'The new secret is in this answer and never again. For a day messages carry two signatures, by the new and by the old secret.',
      requestHeaders: idempotencyKeyHeader,
      params,
      response: withSecretSchema,
      handle: ({ call, params: { id } }) => rotateSecret(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/webhook_endpoints/{id}/replay',
      summary: 'Send all events since a moment again',
      description:
        'Every event that the endpoint has chosen and that happened at `since` or later is sent again, in order, with the webhook-id that it had. The log has the events of 30 days.',
      requestHeaders: idempotencyKeyHeader,
      example: { since: '2026-01-01T00:00:00Z' },
      params,
      body: {
        since: z.iso
          .datetime({ offset: true })
          .transform((text) => new Date(text))
          .meta({ type: 'string', format: 'date-time' }),
      },
      response: z
        .object({ since: time, events: z.int().meta({ description: 'How many events are sent again.' }) })
        .meta({ id: 'WebhookReplay' }),
      handle: ({ call, params: { id }, body }) => replay(ctx, call, id, body),
    }),
  ];
}
