// GET and PATCH /account.

import { nameSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { IdentityContext } from '../context.ts';
import { timeSchema } from '../time-schema.ts';

import { dateStyles, getAccount, updateAccount } from './accounts.ts';

const accountSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    plan: z.string(),
    billing_status: z.string(),
    overdue_since: timeSchema.nullable(),
    overage_enabled: z.boolean(),
    branching_enabled: z.boolean(),
    date_style: z.enum(dateStyles),
    usage: z
      .object({
        period_start: timeSchema,
        period_end: timeSchema,
        calls: z.int().meta({ description: 'Calls of this month before this one.' }),
        allowance: z.int(),
        overage_calls: z.int(),
      })
      .meta({ id: 'AccountUsage' }),
  })
  .meta({ id: 'Account' });

/** Routes of the account. */
export function accountRoutes(ctx: IdentityContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/account',
      tag: 'Account',
      summary: 'Show the account, its plan, billing status and usage',
      description: 'The account of the token. `usage.calls` counts the calls before this one.',
      response: accountSchema,
      handle: ({ call }) => getAccount(ctx, call),
    }),
    route({
      method: 'PATCH',
      path: '/account',
      tag: 'Account',
      summary: 'Change the account',
      example: { account: { name: 'Acme' } },
      description: 'For administrators. To change `overage_enabled` the token needs the scope `api:admin` besides.',
      resource: 'account',
      attributes: {
        name: nameSchema.optional(),
        date_style: z
          .enum(dateStyles)
          .optional()
          .meta({ description: 'How dates in files are read, where no mapping says another.' }),
        overage_enabled: z.boolean().optional(),
      },
      response: accountSchema,
      handle: ({ call, attributes }) => updateAccount(ctx, call, attributes),
    }),
  ];
}
