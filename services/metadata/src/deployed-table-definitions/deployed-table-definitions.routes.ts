// The HTTP edge of deployed table definitions, which are read-only.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import { columnSchema } from '../columns/column-schema.ts';
import type { MetadataContext } from '../context.ts';
import { definitionShape } from '../table-definitions/table-definition-schema.ts';
import {
  deployedFilters,
  getDeployedTableDefinition,
  listDeployedTableDefinitions,
} from './deployed-table-definitions.ts';

const deployedSchema = z.object({
  ...definitionShape,
  table_definition_id: z.int().meta({ description: 'The same as id.' }),
  column_definitions: z.array(columnSchema.omit({ table_definition_id: true, created_at: true, updated_at: true })),
  deployed_by: z.int().nullable(),
  deployed_at: z.iso.datetime(),
});
const tag = 'Deployed table definitions';

export function deployedTableDefinitionRoutes(ctx: MetadataContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/deployed_table_definitions',
      tag,
      summary: 'List the deployed tables one may see, as they are in service',
      query: { ...listParameters, branch_id: idTextSchema.optional(), domain_id: idTextSchema.optional() },
      response: pageSchema(deployedSchema),
      handle: async ({ call, query: { branch_id, domain_id, ...query } }) =>
        listDeployedTableDefinitions(ctx, call, readListQuery(query, deployedFilters), { branch_id, domain_id }),
    }),
    route({
      method: 'GET',
      path: '/deployed_table_definitions/{id}',
      tag,
      summary: 'Show a deployed table as it is in service',
      extension: true,
      params: { id: idTextSchema },
      response: deployedSchema,
      handle: async ({ call, params }) => getDeployedTableDefinition(ctx, call, params.id),
    }),
  ];
}
