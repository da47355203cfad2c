// /me: the caller's own user, for everybody with a token.

import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import { dateStyles } from '../accounts/accounts.ts';
import type { IdentityContext } from '../context.ts';
import { passwordLimits } from '../passwords/passwords.ts';
import { timeSchema } from '../time-schema.ts';
import { personNameSchema } from '../users/person-name.ts';
import { groupReferenceSchema, userSchema } from '../users/user-schema.ts';
import { getMe, updateMe } from './me.ts';
import { changeOwnPassword } from './own-password.ts';
import { endOwnSessions, listOwnSessions, sessionFields } from './own-sessions.ts';
import { getPreferences, putPreferences } from './preferences.ts';

const ownUserSchema = userSchema
  .extend({ name: z.string().meta({ description: 'First and last name.' }), initials: z.string() })
  .meta({ id: 'OwnUser', description: 'The user of the token.' });

const rightSchema = z
  .object({
    everywhere: z.boolean().meta({ description: 'On the account, so everywhere but on private branches.' }),
    domain_ids: z.array(z.int()),
    branch_ids: z.array(z.int()),
    table_definition_ids: z.array(z.int()),
  })
  .meta({ id: 'Right', description: 'Where an action is allowed: in any of these places.' });

const rightsSchema = z
  .object({ view: rightSchema, edit: rightSchema, develop: rightSchema, admin: rightSchema, approve: rightSchema })
  .meta({
    id: 'Rights',
    description:
      'What the groups allow, capped by the licence. On a private branch only `branch_ids` and `table_definition_ids` count, unless `admin` is everywhere.',
  });

const isSmall = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= limits.preferencesBytes;
const preferencesSchema = z
  .record(z.string(), z.unknown())
  .refine(
    isSmall,
    rule('too_long', `is too long (maximum is ${limits.preferencesBytes} bytes of JSON)`, {
      maximum: limits.preferencesBytes,
    }),
  )
  .meta({
    description: `A JSON object of at most ${limits.preferencesBytes} bytes; only its programs know what is in it.`,
  });
const ownPreferencesSchema = z.object({ preferences: preferencesSchema }).meta({ id: 'Preferences' });

const meSchema = z
  .object({
    user: ownUserSchema.nullable().meta({ description: 'Null for an application with its own token.' }),
    oauth_application: z
      .object({ id: z.int(), name: z.string() })
      .meta({ id: 'ApplicationReference' })
      .nullable()
      .meta({ description: 'The application that the token was issued to.' }),
    account: z
      .object({ id: z.int(), name: z.string(), date_style: z.enum(dateStyles) })
      .meta({ id: 'AccountReference' }),
    abilities: z
      .object({
        branching: z.boolean(),
        storage_bytes: z.int().nullable().meta({ description: 'How many bytes of files the account may keep.' }),
      })
      .meta({
        id: 'PlanAbilities',
        description: 'What the plan of the account allows. `GET /account` has its name and usage.',
      }),
    scopes: z.array(z.string()).meta({ description: 'Those of the token: they limit the rights.' }),
    user_groups: z.array(groupReferenceSchema),
    rights: rightsSchema,
    preferences: preferencesSchema,
  })
  .meta({ id: 'Me' });

const sessionSchema = z
  .object({
    id: z.int(),
    address: z.string().nullable().meta({ description: 'Where the log-in came from.' }),
    user_agent: z.string().nullable().meta({ description: 'What the browser called itself.' }),
    created_at: timeSchema,
    expires_at: timeSchema,
  })
  .meta({ id: 'Session', description: 'A browser in which the user is logged in.' });

const password = z.string().max(1_000).meta({ writeOnly: true });
const common = { tag: 'Me', extension: true } as const;

/** Routes of the caller's own user. */
export function meRoutes(ctx: IdentityContext): Route[] {
  return [...ofEverybody(ctx), ...ofPassword(ctx), ...ofSessions(ctx), ...ofPreferences(ctx)];
}

const ofEverybody = (ctx: IdentityContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/me',
    operationId: 'getMe',
    summary: 'Show the caller: user or application, account, groups, rights and preferences',
    description:
      'All that a program needs to know before it shows something. The branch that the user works on is in `GET /branches` (`is_current`), the plan and its usage in `GET /account`.',
    response: meSchema,
    handle: ({ call }) => getMe(ctx, call),
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/me',
    operationId: 'updateMe',
    summary: 'Change the caller’s own name',
    description:
      'Attributes that are left out stay as they are. Administrators change the rest with `PATCH /users/{id}`.',
    example: { first_name: 'Ada' },
    user: true,
    attributes: { first_name: personNameSchema.optional(), last_name: personNameSchema.optional() },
    response: ownUserSchema,
    handle: ({ call, attributes }) => updateMe(ctx, call, attributes),
  }),
];

const ofPassword = (ctx: IdentityContext): Route[] => [
  route({
    ...common,
    method: 'PUT',
    path: '/me/password',
    operationId: 'changeOwnPassword',
    summary: 'Change the caller’s own password',
    description:
      'Ends every session and every token of the user, also the one of this call, and tells them by mail. Wrong current passwords count as failed log-ins: 429 after several. 422 for a service user, who has no password.',
    example: { current_password: 'the one until now', new_password: 'a longer one, with nine words in it' },
    user: true,
    attributes: {
      current_password: password,
      new_password: password.min(passwordLimits.minimum).max(passwordLimits.maximum),
    },
    status: 204,
    handle: ({ call, attributes }) => changeOwnPassword(ctx, call, attributes),
  }),
];

const ofSessions = (ctx: IdentityContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/me/sessions',
    summary: 'List the browsers in which the caller is logged in',
    description: 'Sessions at the pages below `/oauth/`. Tokens of applications are not among them.',
    user: true,
    query: listParameters,
    response: pageSchema(sessionSchema),
    handle: ({ call, query }) => listOwnSessions(ctx, call, readListQuery(query, sessionFields, 'user_agent')),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/me/sessions',
    operationId: 'endMySessions',
    summary: 'Log the caller out of every browser',
    description: 'Tokens that applications hold go on; `/oauth/applications` withdraws them.',
    user: true,
    status: 204,
    handle: async ({ call, body }) => {
      body(); // a caller who sends members may mean one session by them
      await endOwnSessions(ctx, call);
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/me/sessions/{id}',
    operationId: 'endMySession',
    summary: 'Log the caller out of one browser',
    description: '404 for a session of another user.',
    user: true,
    params: { id: idTextSchema },
    status: 204,
    handle: ({ call, params: { id } }) => endOwnSessions(ctx, call, id),
  }),
];

const ofPreferences = (ctx: IdentityContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/me/preferences',
    operationId: 'getMyPreferences',
    summary: 'Show what programs keep for the caller',
    description: 'An empty object until something is stored. `GET /me` has it too.',
    user: true,
    response: ownPreferencesSchema,
    handle: ({ call }) => getPreferences(ctx, call),
  }),
  route({
    ...common,
    method: 'PUT',
    path: '/me/preferences',
    operationId: 'putMyPreferences',
    summary: 'Replace what programs keep for the caller',
    description: 'The object is stored as a whole: read it first, and keep what other programs have put in.',
    example: { preferences: { density: 'compact', language: 'de' } },
    user: true,
    attributes: { preferences: preferencesSchema },
    response: ownPreferencesSchema,
    handle: ({ call, attributes }) => putPreferences(ctx, call, attributes().preferences),
  }),
];
