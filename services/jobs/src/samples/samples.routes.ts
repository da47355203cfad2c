// The REST edge of samples: what a file would need of a table.

import { idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { delimiters, quotes } from '../csv/csv-file.ts';
import { fileFormats } from '../formats/file-format.ts';
import { inferColumns } from './infer-columns.ts';
import { readSample, sampleCharacters, sampleRows } from './read-sample.ts';

/** How the beginning of a file is sent. */
export const sampleShape = {
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

const proposalSchema = z.object({
  table_definition_id: z.int(),
  name: z.string(),
  data_type: z.string(),
  length: z.int().optional(),
  scale: z.int().optional(),
  is_primary_key: z.boolean(),
  is_required: z.boolean(),
});

/** Every endpoint about samples. */
export function sampleRoutes(ctx: Context): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_definitions/{id}/infer_columns',
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
          z.object({
            source_column: z.string(),
            name: z.string(),
            notes: z.array(z.string()),
          }),
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
          throw validationFailed(`A table has at most ${limits.columnsPerTable} columns; the sample has ${width}.`);
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
  ];
}

const requireDevelop = (
  ctx: Context,
  call: CallContext,
  { id, domain_id, branch_id }: { id: number; domain_id: number; branch_id: number },
) => requireRight(ctx.rights, call, 'develop', { domainId: domain_id, branchId: branch_id, tableDefinitionId: id });
