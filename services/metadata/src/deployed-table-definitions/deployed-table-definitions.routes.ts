// The HTTP edge of deployed table definitions, which are read-only.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import { columnSchema } from '../columns/column-schema.ts';
import type { MetadataContext } from '../context.ts';
import { definitionShape, ofBranch, ofDomain } from '../table-definitions/table-definition-schema.ts';
import {
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
  })
  .meta({ id: 'DeployedTableDefinition', description: 'A table as it is in service.' });
const tag = 'Deployed table definitions';

export function deployedTableDefinitionRoutes(ctx: MetadataContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/deployed_table_definitions',
      tag,
      summary: 'List the deployed tables one may see, as they are in service',
      description: 'With their columns. Rows are read by these ids: `POST /table_data/grid`.',
      query: { ...listParameters, branch_id: ofBranch, domain_id: ofDomain },
      response: pageSchema(deployedSchema),
      handle: async ({ call, query: { branch_id, domain_id, ...query } }) =>
        listDeployedTableDefinitions(ctx, call, readListQuery(query, deployedFilters), { branch_id, domain_id }),
    }),
    route({
      method: 'GET',
      path: '/deployed_table_definitions/{id}',
      tag,
      summary: 'Show a deployed table as it is in service',
      description: '404 for a definition that has not been deployed.',
      extension: true,
      params: { id: idTextSchema },
      response: deployedSchema,
      handle: async ({ call, params }) => getDeployedTableDefinition(ctx, call, params.id),
    }),
  ];
}
