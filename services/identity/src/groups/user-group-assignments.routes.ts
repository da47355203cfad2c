// /user_group_assignments: readable by every user of the account, changed by administrators.

import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { timeSchema } from '../time-schema.ts';
import { assignmentFields, createAssignment, deleteAssignment, listAssignments } from './user-group-assignments.ts';

const assignmentSchema = z
  .object({
    id: z.int(),
    user_id: z.int(),
    user_group_id: z.int(),
    created_at: timeSchema,
  })
  .meta({ id: 'UserGroupAssignment' });

const tag = 'User group assignments';
const appointing =
  'For administrators. Where the group may administer or approve anywhere, the token needs the scope `api:admin` besides.';

/** Routes of memberships. */
export function userGroupAssignmentRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/user_group_assignments',
      tag,
      summary: 'List who is in which group',
      description: 'Every user of the account may read it.',
      query: {
        ...listParameters,
        user_group_id: idTextSchema.optional().meta({ description: 'Only those of this group.' }),
      },
      response: pageSchema(assignmentSchema),
      handle: ({ call, query: { user_group_id, ...query } }) =>
        listAssignments(ctx, call, readListQuery(query, assignmentFields), user_group_id),
    }),
    route({
      method: 'POST',
      path: '/user_group_assignments',
      tag,
      summary: 'Put a user into a group',
      requestHeaders: idempotencyKeyHeader,
      example: { user_id: 5, user_group_id: 4 },
      description: appointing,
      resource: 'user_group_assignment',
      body: { user_id: idSchema, user_group_id: idSchema },
      status: 201,
      response: assignmentSchema,
      handle: ({ call, body }) => createAssignment(ctx, call, body),
    }),
    route({
      method: 'DELETE',
      path: '/user_group_assignments/{id}',
      tag,
      summary: 'Take a user out of a group',
      description: appointing,
      params: { id: idTextSchema },
      status: 204,
      handle: ({ call, params: { id } }) => deleteAssignment(ctx, call, id),
    }),
  ];
}
