// GET /usage: an extension of the contract.
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { daySchema } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import type { BillingContext } from '../context.ts';
import { monthPattern, readStatement } from '../statements/statement.ts';
import { statementCsv } from '../statements/statement-csv.ts';
import { consoleUsageFields, listConsoleUsage } from './console-usage.ts';
import { listUsage, usageFields } from './usage.ts';

const channels = ['api', 'console'] as const;

const usageSchema = z
  .object({
    channel: z.enum(channels),
    day: z.iso.date(),
    method: z.string(),
    resource: z.string().meta({ description: 'The first segment of the path below /api/v1.' }),
    application_id: z.int().nullable().meta({ description: 'Null for calls of the console.' }),
    user_id: z.int().nullable().meta({ description: 'Who called, for calls of the console; otherwise null.' }),
    calls: z.int(),
  })
  .meta({ id: 'Usage' });

/** For every token of the account with the scope to read. */
export function usageRoutes(ctx: BillingContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/usage',
      tag: 'Account',
      summary: 'Calls per day, method, resource and application',
      description:
        'Counted calls of the account, in UTC days; the present month unless from or to say otherwise. Calls of the console are listed by person with `channel=console`; they take none of the allowance.',
      extension: true,
      query: {
        ...listParameters,
        from: daySchema.optional().meta({ description: 'First day.' }),
        to: daySchema.optional().meta({ description: 'Last day.' }),
        channel: z.enum(channels).optional().meta({ description: '`api` by default.' }),
      },
      response: pageSchema(usageSchema),
      handle: ({ call, query }) =>
        query.channel === 'console'
          ? listConsoleUsage(ctx, call, query, readListQuery(query, consoleUsageFields, 'resource'))
          : listUsage(ctx, call, query, readListQuery(query, usageFields, 'resource')),
    }),
    route({
      method: 'GET',
      path: '/usage/statement',
      tag: 'Account',
      summary: 'The statement of a month as CSV',
      description:
        'Plan, calls by application, method and resource, calls beyond the allowance with their rate and amount, and the totals; the present month, so far, unless `month` names one.',
      extension: true,
      query: {
        month: z
          .string()
          .regex(monthPattern, 'must be a month, YYYY-MM')
          .optional()
          .meta({ description: 'The month, UTC: `2026-01`.' }),
      },
      produces: 'text/csv',
      handle: async ({ call, query, response }) => {
        const statement = await readStatement(ctx, call, query.month);
        response.setHeader('Content-Type', 'text/csv; charset=utf-8');
        response.setHeader('Content-Disposition', `attachment; filename="almanac-statement-${statement.month}.csv"`);
        response.end(statementCsv(statement));
      },
    }),
  ];
}
