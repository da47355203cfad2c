// The route about the use of tables.
import { type Route, route } from '@almanac/service-kit/api/route';
import { readTableReference, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import type { Pools } from '../postgres/pools.ts';
import { type TableAccess, tableUses } from '../tables/open-table.ts';
import { getUsage } from '../usage/table-usage.ts';

/** The routes of usage, over what they need of a cluster. */
export function usageRoutes(access: TableAccess & { pools: Pools }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/table_data/usage',
      operationId: 'getTableUsage',
      tag: 'Table data',
      summary: 'List who uses a table',
      description:
        'The users and applications whose calls used the rows of the table in the last 30 days (UTC), those with the most calls first, up to 1,000. ' +
        'Calls are added up every few seconds, and a crash may lose the last of them: it is a guide, no bill.',
      extension: true,
      query: tableInQuery,
      response: z.object({
        days: z.int().meta({ description: 'How many days are kept, today included.' }),
        consumers: z.array(
          z
            .object({
              user_id: z.int().nullable(),
              application_id: z.int().nullable(),
              calls: z.int(),
              days: z.array(
                z
                  .object({ day: z.iso.date(), kind: z.enum(tableUses), calls: z.int() })
                  .meta({ id: 'TableUsageDay', description: '`export` is the reading of a whole table.' }),
              ),
            })
            .meta({ id: 'TableConsumer' }),
        ),
      }),
      handle: ({ call, query }) => getUsage(access, call, readTableReference(query)),
    }),
  ];
}
