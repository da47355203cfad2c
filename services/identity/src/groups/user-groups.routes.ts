// /user_groups: readable by every user of the account; administrators change custom groups
// (extension).

import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { visibleNameSchema } from '@almanac/service-kit/api/names';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { actions, resourceTypes } from '../permissions/permissions.ts';
import { timeSchema } from '../time-schema.ts';
import { createGroup, deleteGroup, groupFields, listGroups, showGroup, updateGroup } from './user-groups.ts';

const groupSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    system: z.boolean(),
    resource_type: z.string().nullable(),
    resource_id: z.int().nullable(),
    created_at: timeSchema,
    updated_at: timeSchema,
    permissions: z.array(
      z
        .object({ id: z.int(), action: z.enum(actions), resource_type: z.enum(resourceTypes), resource_id: z.int() })
        .meta({ id: 'GroupPermission' }),
    ),
    members: z.array(
      z
        .object({ id: z.int(), first_name: z.string(), last_name: z.string(), email: z.string() })
        .meta({ id: 'Member' }),
    ),
  })
  .meta({ id: 'UserGroup' });

const permissionsSchema = z
  .array(
    z
      .strictObject({
        action: z.enum(actions),
        resource_type: z.enum(resourceTypes),
        resource_id: idSchema.optional(),
      })
      .meta({ id: 'NewGroupPermission' }),
  )
  .max(1_000)
  .meta({ description: 'What the members may do. `resource_id` is left out for the account.' });

const params = { id: idTextSchema };
const administrative = { tag: 'User groups', scope: 'api:admin', extension: true, resource: 'user_group' } as const;

/** Routes of user groups. */
export function userGroupRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/user_groups',
      tag: 'User groups',
      summary: 'List user groups with their permissions and members',
      description:
        'System groups come with the account, its domains and branches; custom ones are made by administrators.',
      query: listParameters,
      response: pageSchema(groupSchema),
      handle: ({ call, query }) => listGroups(ctx, call, readListQuery(query, groupFields)),
    }),
    route({
      method: 'GET',
      path: '/user_groups/{id}',
      tag: 'User groups',
      summary: 'Show a user group with its permissions and members',
      description: 'Every user of the account may read it.',
      params,
      response: groupSchema,
      handle: ({ call, params: { id } }) => showGroup(ctx, call, id),
    }),
    route({
      ...administrative,
      method: 'POST',
      path: '/user_groups',
      summary: 'Create a custom group',
      description:
        'For administrators. It holds the given permissions, and has no members yet: `POST /user_group_assignments`.',
      requestHeaders: idempotencyKeyHeader,
      example: {
        user_group: { name: 'Geographers', permissions: [{ action: 'edit', resource_type: 'domain', resource_id: 3 }] },
      },
      attributes: {
        name: visibleNameSchema,
        description: descriptionSchema.optional(),
        permissions: permissionsSchema.optional(),
      },
      status: 201,
      response: groupSchema,
      handle: ({ call, attributes }) => createGroup(ctx, call, attributes),
    }),
    route({
      ...administrative,
      method: 'PATCH',
      path: '/user_groups/{id}',
      summary: 'Change a custom group',
      example: { user_group: { description: 'Who keeps the countries' } },
      description: 'A list of permissions replaces the present one.',
      params,
      attributes: {
        name: visibleNameSchema.optional(),
        description: descriptionSchema.optional(),
        permissions: permissionsSchema.optional(),
      },
      response: groupSchema,
      handle: ({ call, params: { id }, attributes }) => updateGroup(ctx, call, id, attributes),
    }),
    route({
      ...administrative,
      method: 'DELETE',
      path: '/user_groups/{id}',
      summary: 'Delete a custom group',
      description: 'For administrators. Its members lose the rights that only it gave. System groups can’t be deleted.',
      params,
      status: 204,
      handle: ({ call, params: { id } }) => deleteGroup(ctx, call, id),
    }),
  ];
}
