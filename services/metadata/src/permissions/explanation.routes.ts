// The HTTP edge of explanations.
import { idSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { actions, explainPermission, reasons, resourceTypes } from './explanation.ts';

const sourceSchema = z
  .object({
    user_group: z
      .object({ id: z.int(), name: z.string() })
      .nullable()
      .meta({ description: 'Null for the owner of a private branch, who may view it without a group.' }),
    action: z.enum(actions),
    resource_type: z.enum(resourceTypes),
    resource_id: z.int(),
  })
  .meta({ id: 'PermissionSource', description: 'A permission and the group that holds it.' });

const peopleSchema = z
  .object({
    people: z.array(z.object({ id: z.int(), name: z.string() })).meta({ description: 'The first twenty by id.' }),
    total_count: z.int(),
  })
  .meta({ id: 'Holders' });

const explanationSchema = z
  .object({
    user_id: z.int(),
    action: z.enum(actions),
    resource_type: z.enum(resourceTypes),
    resource_id: z.int(),
    allowed: z.boolean(),
    reason: z.enum(reasons).meta({
      description:
        'Why not: the user is suspended, the licence caps the right, rights from outside don’t count on a private branch, or no group gives it.',
    }),
    through: z.array(sourceSchema).meta({ description: 'The permissions that allow it.' }),
    ignored: z
      .array(sourceSchema)
      .meta({ description: 'Permissions that would allow it, but for the licence or the private branch.' }),
    holders: peopleSchema.meta({ description: 'Active users who may do it there: whom to ask to do it.' }),
    administrators: peopleSchema.meta({ description: 'People who can grant it.' }),
  })
  .meta({ id: 'PermissionExplanation' });

export function permissionRoutes(ctx: MetadataContext): Route[] {
  return [
    route({
      method: 'POST',
      path: '/permissions/explain',
      tag: 'Permissions',
      operationId: 'explainPermission',
      summary: 'Explain why a user may do something to a resource, or may not',
      description:
        'For every caller of the account, about themselves or another user. It changes nothing. A table takes seeing it; a private branch that is hidden from the caller is 404.',
      extension: true,
      example: { action: 'view', resource_type: 'domain', resource_id: 3 },
      body: {
        user_id: idSchema.optional().meta({ description: 'The caller unless given; an application has to give it.' }),
        action: z.enum(actions),
        resource_type: z.enum(resourceTypes),
        resource_id: idSchema.optional().meta({ description: 'May be left out for the account.' }),
      },
      response: explanationSchema,
      handle: async ({ call, body }) => explainPermission(ctx, call, body()),
    }),
  ];
}
