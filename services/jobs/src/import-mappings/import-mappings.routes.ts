// The REST edge of import mappings.
import { idSchema, idTextSchema, nameSchema } from '@almanac/service-kit/input';
import { limits } from '@almanac/service-kit/limits';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/list-query';
import { type Route, route } from '@almanac/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { delimiters } from '../csv/csv-file.ts';
import {
  createMapping,
  deleteMapping,
  getMapping,
  getVisibleMapping,
  listMappings,
  mappingFields,
  requireTable,
  showMapping,
  updateMapping,
} from './import-mappings.ts';

const tag = 'Import mappings';
const id = { id: idTextSchema };
const resource = 'import_mapping';
const time = z.iso.datetime();
const dateStyle = z.enum(['MDY', 'DMY', 'ISO']);
const delimiter = z.enum(delimiters).nullable();

const mappingSchema = z.object({
  id: z.int(),
  table_definition_id: z.int(),
  name: z.string(),
  date_style: dateStyle,
  delimiter: z.string().nullable(),
  is_default: z.boolean(),
  column_mappings: z.array(
    z.object({ source_column: z.string(), target_column: z.string().nullable(), format: z.string().nullable() }),
  ),
  created_at: time,
  updated_at: time,
});

const optional = {
  date_style: dateStyle.optional(),
  delimiter: delimiter.optional().meta({ description: 'Null: found by looking at the header.' }),
  is_default: z.boolean().optional(),
  column_mappings: z
    .array(
      z.strictObject({
        source_column: z.string().max(255),
        target_column: z.string().max(255).nullish(),
        format: z.string().max(255).nullish(),
      }),
    )
    .max(1000)
    .optional()
    .meta({ description: 'A target_column of null leaves the file column out.' }),
};

/** Every endpoint about import mappings. */
export function importMappingRoutes(ctx: Context): Route[] {
  return [
    route({
      method: 'GET',
      path: '/import_mappings',
      tag,
      summary: 'List the import mappings of tables one may view',
      query: { ...listParameters, table_definition_id: idTextSchema.optional() },
      response: pageSchema(mappingSchema),
      handle: ({ call, query }) =>
        listMappings(ctx, call, query.table_definition_id, readListQuery(query, mappingFields)),
    }),
    route({
      method: 'GET',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Show an import mapping',
      extension: true,
      params: id,
      response: mappingSchema,
      handle: async ({ call, params }) => showMapping(await getVisibleMapping(ctx, call, params.id)),
    }),
    route({
      method: 'POST',
      path: '/import_mappings',
      tag,
      summary: 'Create an import mapping',
      resource,
      body: { table_definition_id: idSchema },
      attributes: { name: nameSchema, ...optional },
      bodyLimit: limits.mappingBodyBytes,
      status: 201,
      response: mappingSchema,
      handle: async ({ call, body, attributes }) => {
        const { table_definition_id } = body();
        const columns = await requireTable(ctx, call, table_definition_id);
        return showMapping(await createMapping(ctx, call, table_definition_id, columns, attributes()));
      },
    }),
    route({
      method: 'PATCH',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Change an import mapping',
      resource,
      params: id,
      attributes: { name: nameSchema.optional(), ...optional },
      bodyLimit: limits.mappingBodyBytes,
      response: mappingSchema,
      handle: async ({ call, params, attributes }) => {
        const found = await getMapping(ctx, call, params.id);
        const columns = await requireTable(ctx, call, found.table_definition_id);
        return showMapping(await updateMapping(ctx, call, found, columns, attributes()));
      },
    }),
    route({
      method: 'DELETE',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Delete an import mapping',
      params: id,
      status: 204,
      handle: async ({ call, params }) => {
        await deleteMapping(ctx, call, await getMapping(ctx, call, params.id));
      },
    }),
  ];
}
