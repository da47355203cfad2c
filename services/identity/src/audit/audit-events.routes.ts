// /audit_events (extension): the audit log, for administrators (api:admin).

import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { timeSchema } from '../time-schema.ts';

import { auditEventFields, getAuditEvent, listAuditEvents, results } from './audit-events.ts';

const attributesSchema = z.record(z.string(), z.unknown()).nullable();

const auditEventSchema = z
  .object({
    id: z.int(),
    occurred_at: timeSchema,
    action: z.string().meta({ description: 'What and what was done to it: `user.created`, `login.failed`.' }),
    result: z.enum(results),
    actor: z
      .object({
        type: z.enum(['user', 'application', 'system']),
        id: z.int().nullable(),
        name: z.string().nullable().meta({ description: 'The current name; null when the actor was deleted.' }),
      })
      .meta({ id: 'Actor' }),
    user_id: z.int().nullable(),
    application_id: z.int().nullable(),
    address: z.string().nullable(),
    resource_type: z.string().nullable(),
    resource_id: z.int().nullable(),
    before: attributesSchema,
    after: attributesSchema,
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEvent' });

// Ids of entries outgrow the 32 bits of other resources' ids.
const eventIdSchema = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
  .transform(Number)
  .meta({ type: 'integer', minimum: 1 });

const common = { tag: 'Audit log', scope: 'api:admin', extension: true } as const;

/** Routes of the audit log. */
export function auditEventRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/audit_events',
      summary: 'List who did what, the newest first',
      description: 'For administrators. A bare word in `q` searches the action.',
      query: listParameters,
      response: pageSchema(auditEventSchema),
      handle: ({ call, query }) => {
        const newestFirst = { ...query, sort: query.sort ?? '-id' };
        return listAuditEvents(ctx, call, readListQuery(newestFirst, auditEventFields, 'action'));
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/audit_events/{id}',
      summary: 'Show one entry of the audit log',
      description: 'For administrators.',
      params: { id: eventIdSchema },
      response: auditEventSchema,
      handle: ({ call, params: { id } }) => getAuditEvent(ctx, call, id),
    }),
  ];
}
