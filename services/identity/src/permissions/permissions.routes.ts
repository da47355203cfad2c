// /permissions: readable by every user of the account, changed with the groups that hold them.
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { actions, listPermissions, permissionFields, resourceTypes } from './permissions.ts';

const permissionSchema = z
  .object({
    id: z.int(),
    user_group_id: z.int(),
    action: z.enum(actions),
    resource_type: z.enum(resourceTypes),
    resource_id: z.int(),
  })
  .meta({ id: 'Permission' });

/** Routes of permissions. */
export function permissionRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/permissions',
      tag: 'Permissions',
      summary: 'List all permissions in the account',
      description: 'Each is held by a group, for the account, a domain, a branch or a table.',
      query: listParameters,
      response: pageSchema(permissionSchema),
      handle: ({ call, query }) => listPermissions(ctx, call, readListQuery(query, permissionFields, 'action')),
    }),
  ];
}
