// The HTTP edge of table definitions.

import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import { columnSchema } from '../columns/column-schema.ts';
import type { MetadataContext } from '../context.ts';
import { resourceGroupSchema } from '../groups/resource-groups.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import { withAllowed, withAllowedOnPage } from '../rights/allowed-actions.ts';
import { type StatisticsReader, withStatistics, withStatisticsOnPage } from '../table-statistics/table-statistics.ts';
import { judgeTables } from './table-actions.ts';
import { cloneTableDefinition } from './table-clone.ts';
import { draftSchema, draftShape, ofBranch, ofDomain, params, query } from './table-definition-schema.ts';
import {
  createTableDefinition,
  definitionAttributes,
  definitionFilters,
  getTableDefinition,
  listTableDefinitions,
  newDefinitionAttributes,
  requireTableDefinition,
  requireVisibleDefinition,
  updateTableDefinition,
} from './table-definitions.ts';
import { answerRemoved, deleteTableDefinition, removeTable, requireRemovable } from './table-removal.ts';
import { answerRestored, restoreTable } from './table-restoration.ts';

const common = { tag: 'Table definitions', resource: 'table_definition' } as const;

const definitionDetailsSchema = z
  .object({
    ...draftShape,
    column_definitions: z.array(columnSchema),
    user_groups: z.array(resourceGroupSchema),
  })
  .meta({ id: 'TableDefinitionDetails' });

export function tableDefinitionRoutes(ctx: MetadataContext, statistics: StatisticsReader): Route[] {
  return [...readable(ctx, statistics), ...ofDevelopers(ctx), ...removing(ctx), ...restoring(ctx), ...cloning(ctx)];
}

const includeSchema = z.enum(['can', 'stats', 'can,stats']).optional().meta({
  description:
    'Extension: `can` adds what the caller may do with each, and why not the rest; `stats` what `GET /deployed_table_definitions` adds.',
});
type Include = z.infer<typeof includeSchema>;
const wants = (include: Include, one: 'can' | 'stats') => include?.split(',').includes(one) === true;

const readable = (ctx: MetadataContext, statistics: StatisticsReader): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/table_definitions',
    summary: 'List the table definitions one may see, with their domain and branch',
    description:
      'Drafts of all branches one may see, unless `branch_id` names one. What is in service is listed by `GET /deployed_table_definitions`.',
    query: { ...listParameters, branch_id: ofBranch, domain_id: ofDomain, include: includeSchema },
    response: pageSchema(draftSchema),
    handle: async ({ call, query: { branch_id, domain_id, include, ...query } }) => {
      const list = readListQuery(query, definitionFilters);
      const page = await listTableDefinitions(ctx, call, list, { branch_id, domain_id });
      const can = wants(include, 'can') ? 'can' : undefined;
      const judged = await withAllowedOnPage(can, page, (items) => judgeTables(ctx, call, items));
      return wants(include, 'stats') ? withStatisticsOnPage(statistics, call, judged) : judged;
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/table_definitions/{id}',
    summary: 'Show a table definition with its columns and user groups',
    description: '`{id}` is the numeric id, the UUID, or the key together with `branch_id`.',
    params,
    query: { ...query, include: includeSchema },
    response: definitionDetailsSchema,
    handle: async ({ call, params, query: { branch_id, include } }) => {
      const definition = await getTableDefinition(ctx, call, params.id, branch_id);
      const can = wants(include, 'can') ? 'can' : undefined;
      const judged = await withAllowed(can, definition, (items) => judgeTables(ctx, call, items));
      return wants(include, 'stats') ? (await withStatistics(statistics, call, [judged]))[0] : judged;
    },
  }),
];

const ofDevelopers = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/table_definitions',
    summary: 'Draft a table on a branch',
    description:
      'The `key` is made of the name and never changes. Add columns, then deploy: until then the table has no rows.',
    example: {
      branch_id: 1,
      table_definition: {
        name: 'Holidays',
        description: 'Public holidays by country',
        domain_id: 3,
        load_type: 'manual',
      },
    },
    body: { branch_id: idSchema },
    attributes: newDefinitionAttributes,
    status: 201,
    response: draftSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body, attributes }) => {
      const create = async () => createTableDefinition(ctx, call, body().branch_id, attributes);
      return idempotent(ctx, call, create, (id) => requireVisibleDefinition(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/table_definitions/{id}',
    summary: 'Change a table definition',
    description:
      'Changes the draft. The deployed table stays as it is until the next deployment; only how its rows change (`row_changes` and its neighbours) changes at once, by those with the right `approve` or `admin` on the branch.',
    example: { table_definition: { description: 'Public holidays by country and year' } },
    params,
    query,
    attributes: definitionAttributes,
    response: draftSchema,
    handle: async ({ call, params, query, attributes }) => {
      const definition = await requireTableDefinition(ctx, call, params.id, query.branch_id);
      return updateTableDefinition(ctx, call, definition, attributes);
    },
  }),
];

const removing = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'DELETE',
    path: '/table_definitions/{id}',
    summary: 'Delete a definition and its columns for good; a table deployed from it goes on serving',
    description:
      'The deployed table keeps its id until `POST /table_definitions/{id}/remove`. 422 while columns of other tables refer to the definition.',
    params,
    query,
    status: 204,
    handle: async ({ call, params, query }) =>
      deleteTableDefinition(ctx, call, await requireTableDefinition(ctx, call, params.id, query.branch_id)),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/table_definitions/{id}/remove',
    summary: 'Remove a definition and the table deployed from it',
    description:
      'Within seven days `POST /table_definitions/{id}/restore` brings both back with the rows. 422 while columns of other tables refer to it.',
    params,
    query,
    status: 204,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, query, body }) => {
      const remove = async () => {
        const table = await requireRemovable(ctx, call, params.id, query.branch_id);
        body();
        await removeTable(ctx, call, table);
      };
      await idempotent(ctx, call, remove, (id) => answerRemoved(ctx, call, id));
    },
  }),
];

const restoring = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/table_definitions/{id}/restore',
    summary: 'Bring back what was removed in the last seven days, with its rows',
    description: 'Takes the id that the table had. 422 when its key is taken by another definition of the branch.',
    extension: true,
    params: { id: idTextSchema },
    response: draftSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, body }) => {
      const restore = () => restoreTable(ctx, call, params.id, () => void body());
      return idempotent(ctx, call, restore, (id) => answerRestored(ctx, call, id));
    },
  }),
];

const cloning = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/table_definitions/{id}/clone',
    summary: 'Copy a definition with its columns to another branch',
    description:
      'Foreign keys of the copy refer to the tables of the same keys on the target branch. The copy knows the version that it was made of, for a later promotion.',
    example: { target_branch_id: 2, include_data: false },
    user: true,
    params,
    query,
    body: {
      target_branch_id: idSchema,
      include_data: z
        .boolean()
        .optional()
        .meta({ description: 'The copy begins with the rows that the original has when the copy is deployed first.' }),
    },
    status: 201,
    response: z.object({ ...draftShape, column_definitions: z.array(columnSchema) }),
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, query, body }) => {
      const clone = async () => {
        const source = await requireTableDefinition(ctx, call, params.id, query.branch_id);
        return cloneTableDefinition(ctx, call, source, body);
      };
      return idempotent(ctx, call, clone, async (id) => {
        const { user_groups: _groups, ...made } = await getTableDefinition(ctx, call, String(id));
        return made;
      });
    },
  }),
];
