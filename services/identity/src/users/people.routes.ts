// /people: names behind ids, for every caller of the account.

import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { listPeople, personFields } from './people.ts';
import { userTypes } from './users.ts';

const personSchema = z
  .object({
    id: z.int(),
    name: z.string().meta({ description: 'First and last name; empty for a user who has given neither.' }),
    initials: z.string(),
    user_type: z.enum(userTypes),
    active: z.boolean().meta({ description: 'False for invited and suspended users.' }),
  })
  .meta({ id: 'Person', description: 'A user as the others of the account see them.' });

const idsSchema = z
  .string()
  .regex(/^\d{1,15}(,\d{1,15})*$/, 'must be ids separated by commas')
  .transform((text) => [...new Set(text.split(',').map((id) => Math.min(Number(id), limits.int4)))])
  .refine(
    (ids) => ids.length <= limits.perPageMaximum,
    rule('too_many', `must have at most ${limits.perPageMaximum} ids`),
  )
  .meta({ type: 'string', description: 'Ids separated by commas. Unknown ones are left out.' });

const activeSchema = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', description: 'Only active users, or only the others.' });

/** Routes of people. */
export function peopleRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/people',
      tag: 'People',
      summary: 'List the people of the account by id or name',
      description:
        'For every caller of the account: who made a change, who owns a branch. Suspended users and service users are in it, deleted ones are not.',
      extension: true,
      query: { ...listParameters, ids: idsSchema.optional(), active: activeSchema.optional() },
      response: pageSchema(personSchema),
      handle: ({ call, query: { ids, active, ...list } }) =>
        listPeople(ctx, call, readListQuery(list, personFields), { ids, active }),
    }),
  ];
}
