// The REST edge of import mappings.
import { idTextSchema, nameSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import {
  findTableReference,
  readTableReference,
  tableInBody,
  tableInQuery,
} from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { delimiters, quotes } from '../formats/csv/csv-reader.ts';
import { encodings } from '../formats/table-file/text-bytes.ts';
import { idempotencyKeyHeader } from '../idempotency.ts';
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
import { dateStyles, decimalSeparators, maxEntries } from './mapping.ts';

const tag = 'Import mappings';
const id = { id: idTextSchema };
const resource = 'import_mapping';
const time = z.iso.datetime();

export const styleSchemas = {
  date_style: z.enum(dateStyles),
  decimal_separator: z.enum(decimalSeparators).nullable(),
  delimiter: z.enum(delimiters).nullable(),
  quote: z.enum(quotes).nullable(),
  encoding: z.enum(encodings).nullable(),
};
const { date_style, decimal_separator, delimiter, quote, encoding } = styleSchemas;

/** Entries of a value_map, and characters of each text in it. */
const maxValueMapSize = 1000;

export const columnMappingSchema = z
  .object({
    source_column: z.string(),
    target_column: z.string().nullable(),
    format: z.string().nullable(),
    default: z.string().nullable(),
    trim: z.boolean(),
    lookup: z.union([z.boolean(), z.string()]),
    value_map: z.record(z.string(), z.string().nullable()).nullable(),
    otherwise: z.union([
      z.enum(['keep', 'reject']),
      z.object({ value: z.string().nullable() }).meta({ id: 'Replacement' }),
    ]),
    round: z.int().nullable(),
  })
  .meta({ id: 'ColumnMapping' });

const mappingSchema = z
  .object({
    id: z.int(),
    table_definition_id: z.int(),
    name: z.string(),
    date_style,
    decimal_separator,
    delimiter,
    quote,
    encoding,
    has_header: z.boolean(),
    is_default: z.boolean(),
    column_mappings: z.array(columnMappingSchema),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'ImportMapping' });

const optional = {
  date_style: date_style.optional().meta({ description: "Of a new mapping that doesn't say: the account's." }),
  decimal_separator: decimal_separator.optional().meta({
    description:
      'Of numbers, whose whole parts may then be in groups of three (1.234,5 or 1,234.5). Null: as JSON writes numbers.',
  }),
  delimiter: delimiter.optional().meta({ description: 'Null: found by looking at the header.' }),
  quote: quote.optional().meta({
    description:
      'What stands around cells. Null: double quotes, or single ones when every cell of the header has them.',
  }),
  encoding: encoding.optional().meta({ description: 'Null: found by looking at the bytes.' }),
  has_header: z.boolean().optional().meta({
    description: 'False: the first line is a row, and source columns are named by their places, from 1.',
    default: true,
  }),
  is_default: z.boolean().optional(),
  column_mappings: z
    .array(
      z
        .strictObject({
          source_column: z.string().max(255),
          target_column: z.string().max(255).nullish().meta({ description: 'Null leaves the file column out.' }),
          format: z
            .string()
            .max(255)
            .nullish()
            .meta({ description: 'A date pattern of PostgreSQL, such as DD.MM.YYYY.' }),
          default: z
            .string()
            .max(1000)
            .nullish()
            .meta({ description: 'Stands in blank cells, as if the file held it.' }),
          trim: z
            .boolean()
            .nullish()
            .meta({ description: 'Blanks around cells are left out; cells of blanks are null.' }),
          lookup: z
            .union([z.boolean(), z.string().max(63)])
            .nullish()
            .meta({
              description:
                'True: cells hold what the referenced table is shown by, not its key; a name: what it has in that column.',
            }),
          value_map: z
            .record(z.string(), z.string().max(maxValueMapSize).nullable())
            .refine(
              (map) => Object.keys(map).length <= maxValueMapSize,
              rule('too_many', `has more than ${maxValueMapSize} entries`, { maximum: maxValueMapSize }),
            )
            .refine(
              (map) => Object.keys(map).every(({ length }) => length <= maxValueMapSize),
              rule('too_long', `has a text of more than ${maxValueMapSize} characters`, { maximum: maxValueMapSize }),
            )
            .nullish()
            .meta({
              description:
                'What cells stand for, by their text, such as {"X": "true", "": "false"}; "": cells without a value, null: no value. At most 1,000.',
            }),
          otherwise: z
            .union([
              z.enum(['keep', 'reject']),
              z.strictObject({ value: z.string().max(maxValueMapSize).nullable() }).meta({ id: 'NewReplacement' }),
            ])
            .nullish()
            .meta({ description: 'What becomes of values that the value_map does not have; keep when not given.' }),
          round: z
            .int()
            .min(0)
            .max(20)
            .nullish()
            .meta({ description: 'Of decimals and integers: how many decimal places stay, half away from zero.' }),
        })
        .meta({ id: 'NewColumnMapping' }),
    )
    .max(maxEntries)
    .optional()
    .meta({ description: 'A target_column of null leaves the file column out.' }),
};

/** Every endpoint about import mappings. */
export function importMappingRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/import_mappings',
      tag,
      summary: 'List the import mappings of tables one may view',
      description: 'Without a table those of all tables.',
      query: { ...listParameters, ...tableInQuery },
      response: pageSchema(mappingSchema),
      handle: ({ call, query }) =>
        listMappings(ctx, call, findTableReference(query), readListQuery(query, mappingFields)),
    }),
    route({
      method: 'GET',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Show an import mapping',
      description: 'With the columns in their order.',
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
      description: 'A table has at most one default mapping: the one before it loses the mark.',
      requestHeaders: idempotencyKeyHeader,
      example: {
        table_definition_id: 12,
        import_mapping: {
          name: 'From the ERP',
          date_style: 'DMY',
          column_mappings: [{ source_column: 'Country code', target_column: 'alpha2', trim: true }],
        },
      },
      resource,
      body: tableInBody,
      attributes: { name: nameSchema, ...optional },
      bodyLimit: limits.mappingBodyBytes,
      status: 201,
      response: mappingSchema,
      handle: async ({ call, body, attributes }) => {
        const table = await requireTable(ctx, call, readTableReference(body()));
        return showMapping(await createMapping(ctx, call, table, attributes()));
      },
    }),
    route({
      method: 'PATCH',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Change an import mapping',
      description:
        '`column_mappings` replaces the whole list. Tables of imports keep the mapping that they were added with.',
      example: { import_mapping: { date_style: 'ISO', is_default: true } },
      resource,
      params: id,
      attributes: { name: nameSchema.optional(), ...optional },
      bodyLimit: limits.mappingBodyBytes,
      response: mappingSchema,
      handle: async ({ call, params, attributes }) => {
        const found = await getMapping(ctx, call, params.id);
        const table = await requireTable(ctx, call, { id: found.table_definition_id });
        return showMapping(await updateMapping(ctx, call, found, table, attributes()));
      },
    }),
    route({
      method: 'DELETE',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Delete an import mapping',
      description: 'Tables of imports that were added with it keep it.',
      params: id,
      status: 204,
      handle: async ({ call, params }) => {
        await deleteMapping(ctx, call, await getMapping(ctx, call, params.id));
      },
    }),
  ];
}
