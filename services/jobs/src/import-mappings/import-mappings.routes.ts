// The REST edge of import mappings.
import { idSchema, idTextSchema, nameSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { delimiters, quotes } from '../csv/csv-file.ts';
import { encodings } from '../csv/text-bytes.ts';
import { fileFormats } from '../formats/file-format.ts';
import { repeatable } from '../repeated-requests.ts';
import { sampleShape } from '../samples/samples.routes.ts';
import { readAccountDateStyle } from './account-date-style.ts';
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
import { dateStyles, decimalSeparators, mostEntries } from './mapping.ts';
import { proposeMapping } from './propose-mapping.ts';

const tag = 'Import mappings';
const id = { id: idTextSchema };
const resource = 'import_mapping';
const time = z.iso.datetime();
const dateStyle = z.enum(dateStyles);
const decimalSeparator = z.enum(decimalSeparators).nullable();
const delimiter = z.enum(delimiters).nullable();
const quote = z.enum(quotes).nullable();
const encoding = z.enum(encodings).nullable();

/** Entries of a value_map, and characters of each text in it. */
const mostMapped = 1000;

export const columnMappingSchema = z.object({
  source_column: z.string(),
  target_column: z.string().nullable(),
  format: z.string().nullable(),
  default: z.string().nullable(),
  trim: z.boolean(),
  lookup: z.union([z.boolean(), z.string()]),
  value_map: z.record(z.string(), z.string().nullable()).nullable(),
  otherwise: z.union([z.enum(['keep', 'reject']), z.object({ value: z.string().nullable() })]),
  round: z.int().nullable(),
});

const mappingSchema = z.object({
  id: z.int(),
  table_definition_id: z.int(),
  name: z.string(),
  date_style: dateStyle,
  decimal_separator: decimalSeparator,
  delimiter,
  quote,
  encoding,
  has_header: z.boolean(),
  is_default: z.boolean(),
  column_mappings: z.array(columnMappingSchema),
  created_at: time,
  updated_at: time,
});

const optional = {
  date_style: dateStyle.optional().meta({ description: "Of a new mapping that doesn't say: the account's." }),
  decimal_separator: decimalSeparator.optional().meta({
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
      z.strictObject({
        source_column: z.string().max(255),
        target_column: z.string().max(255).nullish().meta({ description: 'Null leaves the file column out.' }),
        format: z
          .string()
          .max(255)
          .nullish()
          .meta({ description: 'A date pattern of PostgreSQL, such as DD.MM.YYYY.' }),
        default: z.string().max(1000).nullish().meta({ description: 'Stands in blank cells, as if the file held it.' }),
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
          .record(z.string(), z.string().max(mostMapped).nullable())
          .refine((map) => Object.keys(map).length <= mostMapped, { error: `has more than ${mostMapped} entries` })
          .refine((map) => Object.keys(map).every(({ length }) => length <= mostMapped), {
            error: `has a text of more than ${mostMapped} characters`,
          })
          .nullish()
          .meta({
            description:
              'What cells stand for, by their text, such as {"X": "true", "": "false"}; "": cells without a value, null: no value. At most 1,000.',
          }),
        otherwise: z
          .union([z.enum(['keep', 'reject']), z.strictObject({ value: z.string().max(mostMapped).nullable() })])
          .nullish()
          .meta({ description: 'What becomes of values that the value_map does not have; keep when not given.' }),
        round: z
          .int()
          .min(0)
          .max(20)
          .nullish()
          .meta({ description: 'Of decimals and integers: how many decimal places stay, half away from zero.' }),
      }),
    )
    .max(mostEntries)
    .optional()
    .meta({ description: 'A target_column of null leaves the file column out.' }),
};

const suggestionSchema = z.object({
  import_mapping: z
    .object({
      table_definition_id: z.int(),
      date_style: dateStyle,
      decimal_separator: decimalSeparator,
      delimiter,
      quote,
      has_header: z.boolean(),
      column_mappings: z.array(columnMappingSchema),
    })
    .meta({ description: 'With a name, a body for POST /import_mappings.' }),
  columns: z.array(
    z.object({
      source_column: z.string(),
      target_column: z.string().nullable(),
      confidence: z.number().min(0).max(1),
      notes: z.array(z.string()),
    }),
  ),
  unmatched_source_columns: z.array(z.string()).meta({ description: 'The mapping leaves them out.' }),
  unmatched_target_columns: z.array(z.string()),
  ambiguous_date_columns: z.array(z.string()),
  questions: z.array(z.string()).meta({ description: 'What to decide before the mapping is used.' }),
  format: z.enum(fileFormats),
  rows: z.int().meta({ description: 'How many were looked at.' }),
});

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
      method: 'POST',
      path: '/import_mappings/suggest',
      tag,
      summary: 'Propose an import mapping from a sample of a file',
      example: { table_definition_id: 12, sample: 'Code,Name\nCH,Switzerland\n' },
      description: 'Writes nothing.',
      extension: true,
      body: { table_definition_id: idSchema, ...sampleShape },
      response: suggestionSchema,
      handle: async ({ call, body }) => {
        const { table_definition_id, ...sample } = body();
        const table = await requireTable(ctx, call, table_definition_id);
        const dateStyle = await readAccountDateStyle(ctx, call);
        return proposeMapping(table, { tableDefinitionId: table_definition_id, dateStyle }, sample);
      },
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
      requestHeaders: repeatable,
      example: {
        table_definition_id: 12,
        import_mapping: {
          name: 'From the ERP',
          date_style: 'DMY',
          column_mappings: [{ source_column: 'Country code', target_column: 'code', trim: true }],
        },
      },
      resource,
      body: { table_definition_id: idSchema },
      attributes: { name: nameSchema, ...optional },
      bodyLimit: limits.mappingBodyBytes,
      status: 201,
      response: mappingSchema,
      handle: async ({ call, body, attributes }) => {
        const { table_definition_id } = body();
        const table = await requireTable(ctx, call, table_definition_id);
        return showMapping(await createMapping(ctx, call, table_definition_id, table, attributes()));
      },
    }),
    route({
      method: 'PATCH',
      path: '/import_mappings/{id}',
      tag,
      summary: 'Change an import mapping',
      example: { import_mapping: { date_style: 'ISO', is_default: true } },
      resource,
      params: id,
      attributes: { name: nameSchema.optional(), ...optional },
      bodyLimit: limits.mappingBodyBytes,
      response: mappingSchema,
      handle: async ({ call, params, attributes }) => {
        const found = await getMapping(ctx, call, params.id);
        const table = await requireTable(ctx, call, found.table_definition_id);
        return showMapping(await updateMapping(ctx, call, found, table, attributes()));
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
