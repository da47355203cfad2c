// The HTTP edge of deployed table definitions, which are read-only.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { z } from 'zod';
import { columnSchema } from '../columns/column-schema.ts';
import type { MetadataContext } from '../context.ts';
import { definitionShape, ofBranch, ofDomain } from '../table-definitions/table-definition-schema.ts';
import { type StatisticsReader, statisticsShape, withStatistics } from '../table-statistics/table-statistics.ts';
import { openingViewShape, withOpeningViews } from '../views/opening-views.ts';
import {
  type DeployedTableDefinition,
  deployedFilters,
  getDeployedTableDefinition,
  listDeployedTableDefinitions,
} from './deployed-table-definitions.ts';

const deployedColumnSchema = columnSchema
  .omit({ table_definition_id: true, created_at: true, updated_at: true })
  .meta({ id: 'DeployedColumn' });

const deployedSchema = z
  .object({
    ...definitionShape,
    table_definition_id: z.int().meta({ description: 'The same as id.' }),
    column_definitions: z.array(deployedColumnSchema),
    deployed_by: z.int().nullable(),
    deployed_at: z.iso.datetime(),
    ...statisticsShape,
    ...openingViewShape,
  })
  .meta({ id: 'DeployedTableDefinition', description: 'A table as it is in service.' });
const tag = 'Deployed table definitions';
const includeSchema = z.enum(['stats', 'opening_view']).optional().meta({
  description:
    'Extension: `stats` adds how many rows each has, its last change and its last import; `opening_view` the saved view that it opens with.',
});
type Include = z.infer<typeof includeSchema>;

export function deployedTableDefinitionRoutes(ctx: MetadataContext, statistics: StatisticsReader): Route[] {
  const including = async (include: Include, call: CallContext, tables: DeployedTableDefinition[]) => {
    if (include === 'stats') return withStatistics(statistics, call, tables);
    return include === 'opening_view' ? withOpeningViews(ctx, call, tables) : tables;
  };
  return [
    route({
      method: 'GET',
      path: '/deployed_table_definitions',
      tag,
      summary: 'List the deployed tables one may see, as they are in service',
      description: 'With their columns. Rows are read by these ids: `POST /table_data/grid`.',
      query: { ...listParameters, branch_id: ofBranch, domain_id: ofDomain, include: includeSchema },
      response: pageSchema(deployedSchema),
      handle: async ({ call, query: { branch_id, domain_id, include, ...query } }) => {
        const list = readListQuery(query, deployedFilters);
        const page = await listDeployedTableDefinitions(ctx, call, list, { branch_id, domain_id });
        return { ...page, data: await including(include, call, page.data) };
      },
    }),
    route({
      method: 'GET',
      path: '/deployed_table_definitions/{id}',
      tag,
      summary: 'Show a deployed table as it is in service',
      description: '404 for a definition that has not been deployed.',
      extension: true,
      params: { id: idTextSchema },
      query: { include: includeSchema },
      response: deployedSchema,
      handle: async ({ call, params, query: { include } }) => {
        const table = await getDeployedTableDefinition(ctx, call, params.id);
        return (await including(include, call, [table]))[0];
      },
    }),
  ];
}
