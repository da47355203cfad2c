// The REST endpoints of samples: columns and mappings inferred from the beginning of a file.

import { idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { readTableReference, tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { delimiters, quotes } from '../formats/csv/csv-reader.ts';
import { fileFormats } from '../formats/table-file/file-format.ts';
import { readAccountDateStyle } from '../import-mappings/account-date-style.ts';
import { columnMappingSchema, styleSchemas } from '../import-mappings/import-mappings.routes.ts';
import { requireTable } from '../import-mappings/import-mappings.ts';
import { inferColumns } from './infer-columns.ts';
import { readSample, sampleCharacters, sampleRows } from './read-sample.ts';
import { suggestMapping } from './suggest-mapping.ts';

/** How a sample is sent. */
const sampleShape = {
  sample: z
    .string()
    .min(1)
    .max(sampleCharacters)
    .meta({
      description: `The beginning of the file as text: CSV, TSV, JSON or lines of JSON. Of it, ${sampleRows} rows are looked at.`,
    }),
  delimiter: z.enum(delimiters).optional().meta({ description: 'Found by looking at the first line when omitted.' }),
  quote: z.enum(quotes).optional(),
  has_header: z
    .boolean()
    .optional()
    .meta({ description: 'False: the first line is a row, and columns are named by their places.', default: true }),
};

const proposalSchema = z
  .object({
    table_definition_id: z.int(),
    name: z.string(),
    data_type: z.string(),
    length: z.int().optional(),
    scale: z.int().optional(),
    is_primary_key: z.boolean(),
    is_required: z.boolean(),
  })
  .meta({ id: 'ProposedColumn' });

const suggestionSchema = z.object({
  import_mapping: z
    .object({
      table_definition_id: z.int(),
      date_style: styleSchemas.date_style,
      decimal_separator: styleSchemas.decimal_separator,
      delimiter: styleSchemas.delimiter,
      quote: styleSchemas.quote,
      has_header: z.boolean(),
      column_mappings: z.array(columnMappingSchema),
    })
    .meta({ id: 'SuggestedImportMapping', description: 'With a name, a body for POST /import_mappings.' }),
  columns: z.array(
    z
      .object({
        source_column: z.string(),
        target_column: z.string().nullable(),
        confidence: z.number().min(0).max(1),
        notes: z.array(z.string()),
      })
      .meta({ id: 'SuggestedColumn' }),
  ),
  unmatched_source_columns: z.array(z.string()).meta({ description: 'The mapping leaves them out.' }),
  unmatched_target_columns: z.array(z.string()),
  ambiguous_date_columns: z.array(z.string()),
  questions: z.array(z.string()).meta({ description: 'What to decide before the mapping is used.' }),
  format: z.enum(fileFormats),
  rows: z.int().meta({ description: 'How many were looked at.' }),
});

/** Every endpoint about samples. */
export function sampleRoutes(ctx: JobsContext): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_definitions/{id}/infer_columns',
      operationId: 'inferColumns',
      tag: 'Table definitions',
      summary: 'Propose columns for a table from a sample of a file',
      example: { sample: 'code,name,population\nCH,Switzerland,9060598\n' },
      description:
        'Writes nothing: each of `column_definitions` is a body for POST /column_definitions. What has zeros in front stays text.',
      extension: true,
      params: { id: z.string().meta({ description: 'Numeric id, UUID, or key (with `branch_id`).' }) },
      query: { branch_id: idTextSchema.optional().meta({ description: 'Required with a key.' }) },
      body: sampleShape,
      response: z.object({
        table_definition_id: z.int(),
        column_definitions: z.array(proposalSchema),
        columns: z.array(
          z
            .object({ source_column: z.string(), name: z.string(), notes: z.array(z.string()) })
            .meta({ id: 'InferredColumn' }),
        ),
        format: z.enum(fileFormats),
        delimiter: z.string().nullable(),
        rows: z.int().meta({ description: 'How many were looked at.' }),
        date_style: z.enum(['MDY', 'DMY']).nullable().meta({ description: 'Null: the sample does not tell.' }),
        decimal_separator: z.enum(['.', ',']).nullable().meta({ description: 'Null: the sample does not tell.' }),
      }),
      handle: async ({ call, params, query, body }) => {
        const handle = { handle: params.id, ...(query.branch_id === undefined ? {} : { branch_id: query.branch_id }) };
        const table = await ctx.metadata.GetTableDefinition(call, handle);
        await requireDevelop(ctx, call, table);
        const { sample: text, has_header = true, ...style } = body();
        const sample = await readSample(text, { ...style, hasHeader: has_header });
        const width = sample.header.length;
        if (width > limits.columnsPerTable)
          throw validationFailed({
            code: 'too_many',
            message: `A table has at most ${limits.columnsPerTable} columns; the sample has ${width}.`,
          });
        const { columns, style: found } = inferColumns(sample);
        const taken = new Set(table.columns.map(({ name }) => name.toLowerCase()));
        const isThere = (name: string) => taken.has(name.toLowerCase());
        return {
          table_definition_id: table.id,
          column_definitions: columns
            .filter(({ column }) => !isThere(column.name))
            .map(({ column }) => ({ table_definition_id: table.id, ...column })),
          columns: columns.map(({ source_column, column: { name }, notes }) => ({
            source_column,
            name,
            notes: isThere(name) ? [...notes, 'The table has this column already.'] : notes,
          })),
          format: sample.format,
          delimiter: sample.delimiter,
          rows: sample.rows.length,
          date_style: found.dateStyle ?? null,
          decimal_separator: found.decimalSeparator ?? null,
        };
      },
    }),
    route({
      method: 'POST',
      path: '/import_mappings/suggest',
      tag: 'Import mappings',
      summary: 'Propose an import mapping from a sample of a file',
      example: { table_definition_id: 12, sample: 'Code,Name\nCH,Switzerland\n' },
      description: 'Writes nothing.',
      extension: true,
      body: { ...tableInBody, ...sampleShape },
      response: suggestionSchema,
      handle: async ({ call, body }) => {
        const { table_definition_id, table_definition_key, branch_id, ...sample } = body();
        const reference = readTableReference({ table_definition_id, table_definition_key, branch_id });
        const table = await requireTable(ctx, call, reference);
        const dateStyle = await readAccountDateStyle(ctx, call);
        return suggestMapping(table, { tableDefinitionId: table.id, dateStyle }, sample);
      },
    }),
  ];
}

const requireDevelop = (
  ctx: JobsContext,
  call: CallContext,
  { id, domain_id, branch_id }: { id: number; domain_id: number; branch_id: number },
) => requireRight(ctx.rights, call, 'develop', { domainId: domain_id, branchId: branch_id, tableDefinitionId: id });
