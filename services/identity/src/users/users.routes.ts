// /users: all for administrators (api:admin).

import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
import { emailSchema } from '../mails/email-address.ts';
import { passwordLimits } from '../passwords/passwords.ts';
import { sendInvitation } from './invitations.ts';
import { personNameSchema } from './person-name.ts';
import { groupReferenceSchema, userSchema } from './user-schema.ts';
import {
  createUser,
  deleteUser,
  getUser,
  licenseTypes,
  listUsers,
  settableStatuses,
  updateUser,
  userFields,
  userTypes,
} from './users.ts';

const userDetailsSchema = userSchema.extend({ user_groups: z.array(groupReferenceSchema) }).meta({ id: 'UserDetails' });

const optional = {
  first_name: personNameSchema.optional(),
  last_name: personNameSchema.optional(),
  license_type: z.enum(licenseTypes).optional(),
  password: z
    .string()
    .min(passwordLimits.minimum)
    .max(passwordLimits.maximum)
    .optional()
    .meta({ writeOnly: true, description: 'Extension: sets a password, which makes the user active. Never shown.' }),
};

const changeable = {
  status: z.enum(settableStatuses).optional().meta({
    description:
      'Extension: `suspended` ends sessions and tokens and lets the user log in no more; `active` takes that back.',
  }),
  keep_sessions: z.boolean().optional().meta({
    writeOnly: true,
    description: 'Extension: with `password`, lets sessions and tokens go on; by default they end.',
  }),
};

const common = { tag: 'Users', scope: 'api:admin' } as const;
const params = { id: idTextSchema };

/** Routes of users. */
export function userRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      ...common,
      method: 'GET',
      path: '/users',
      summary: 'List users',
      description: 'For administrators.',
      query: listParameters,
      response: pageSchema(userSchema),
      handle: ({ call, query }) => listUsers(ctx, call, readListQuery(query, userFields, 'email')),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/users/{id}',
      summary: 'Show a user and the groups it is in',
      description: 'For administrators.',
      params,
      response: userDetailsSchema,
      handle: ({ call, params: { id } }) => getUser(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/users',
      summary: 'Create a user, or a service user',
      requestHeaders: idempotencyKeyHeader,
      example: {
        user: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', license_type: 'developer' },
      },
      description:
        'A person needs an `email`, and without a password is invited by mail. A service user (extension) has neither and never logs in: programs act as it with a refresh token (`POST /users/{id}/refresh_tokens`), and groups give it rights.',
      resource: 'user',
      attributes: {
        user_type: z.enum(userTypes).optional().meta({
          description: 'Extension: `person` unless given. It never changes. A service user needs a `first_name`.',
        }),
        email: emailSchema.optional(),
        ...optional,
      },
      status: 201,
      response: userSchema,
      handle: ({ call, attributes }) => createUser(ctx, call, attributes),
    }),
    route({
      ...common,
      method: 'PATCH',
      path: '/users/{id}',
      summary: 'Change a user, or suspend one',
      description: 'For administrators. Attributes that are left out stay as they are.',
      example: { user: { last_name: 'King' } },
      params,
      resource: 'user',
      attributes: { email: emailSchema.optional(), ...optional, ...changeable },
      response: userSchema,
      handle: ({ call, params: { id }, attributes }) => updateUser(ctx, call, id, attributes),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: '/users/{id}',
      summary: 'Delete a user and revoke the tokens it has',
      description: 'For administrators. Histories and the audit log keep the id.',
      params,
      status: 204,
      handle: ({ call, params: { id } }) => deleteUser(ctx, call, id),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/users/{id}/send_invitation',
      summary: 'Send the invitation again',
      requestHeaders: idempotencyKeyHeader,
      description: 'For a user who is still invited; a few times an hour.',
      extension: true,
      params,
      response: userSchema,
      handle: ({ call, params: { id }, body }) => sendInvitation(ctx, call, id, body),
    }),
  ];
}
