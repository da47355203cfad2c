// The HTTP edge of column definitions.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import {
  findTableReference,
  readTableReference,
  tableInBody,
  tableInQuery,
} from '@almanac/service-kit/rights/table-reference';
import { columnAttributes, newColumnAttributes } from '../columns/column-rules.ts';
import { columnSchema } from '../columns/column-schema.ts';
import type { MetadataContext } from '../context.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import {
  columnFilters,
  createColumnDefinition,
  deleteColumnDefinition,
  getColumnDefinition,
  listColumnDefinitions,
  updateColumnDefinition,
} from './column-definitions.ts';

const params = { id: idTextSchema };
const ofTable = idTextSchema.optional().meta({ description: 'Only those of this table.' });
const common = { tag: 'Column definitions', resource: 'column_definition' } as const;

export function columnDefinitionRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...ofDevelopers(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/column_definitions',
    summary: 'List column definitions: those of one table in its order, or of all tables one may see',
    description: 'Of drafts. The columns in service are in `GET /deployed_table_definitions`.',
    query: { ...listParameters, ...tableInQuery },
    response: pageSchema(columnSchema),
    handle: async ({ call, query }) =>
      listColumnDefinitions(ctx, call, readListQuery(query, columnFilters), findTableReference(query)),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/column_definitions/{id}',
    summary: 'Show a column definition',
    description: 'Of a draft that one may see.',
    extension: true,
    params,
    response: columnSchema,
    handle: async ({ call, params }) => getColumnDefinition(ctx, call, params.id),
  }),
];

const ofDevelopers = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/column_definitions',
    summary: 'Add a column to a table definition',
    description: 'The column comes last. It is served once the definition is deployed.',
    example: {
      table_definition_id: 12,
      column_definition: {
        name: 'region',
        data_type: 'string',
        length: 40,
        valid_values: 'Africa|America|Asia|Europe|Oceania',
      },
    },
    body: tableInBody,
    attributes: newColumnAttributes,
    status: 201,
    response: columnSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body, attributes }) => {
      const create = async () => createColumnDefinition(ctx, call, readTableReference(body()), attributes);
      return idempotent(ctx, call, create, (id) => getColumnDefinition(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/column_definitions/{id}',
    summary: 'Change a column definition',
    description:
      'Attributes that are left out stay as they are. Deploying shows first what the change does to the rows.',
    example: { column_definition: { length: 60, description: 'As the United Nations name it' } },
    params,
    attributes: columnAttributes,
    response: columnSchema,
    handle: async ({ call, params, attributes }) => updateColumnDefinition(ctx, call, params.id, attributes),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/column_definitions/{id}',
    summary: 'Take a column out of a table definition',
    description: 'The deployed table keeps the column and its values until the next deployment.',
    params,
    status: 204,
    handle: async ({ call, params }) => deleteColumnDefinition(ctx, call, params.id),
  }),
];
