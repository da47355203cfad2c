// Routes that tell of the rows of a filter without showing them: the values of a column.
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import type { PageAccess } from '../pages/pages.ts';
import { asOfSchema } from '../rows/as-of.ts';
import { getValues } from '../summaries/values.ts';
import {
  exactNumbersHeader,
  exactNumbersQuery,
  filterModelSchema,
  orSchema,
  readExactNumbers,
  searchSchema,
} from './table-data.schemas.ts';

const tag = 'Table data';
const resource = 'table_data';

// The rows that a request is about, named like those of the grid.
const selectionInBody = {
  filterModel: filterModelSchema.optional(),
  or: orSchema.optional(),
  q: searchSchema.optional(),
  include_deleted: z.boolean().optional().meta({ description: 'Deleted rows too.' }),
  as_of: asOfSchema.optional(),
};

const cellSchema = z.unknown().meta({ description: 'As a record shows it; null: no value, or the empty text.' });
const labelSchema = z.unknown().meta({
  description: 'The display value of the record it refers to; null when there is none or you may not view its table.',
});

const valueSchema = z
  .object({
    value: cellSchema,
    label: labelSchema.optional(),
    count: z.int().meta({ description: 'The rows with this value.' }),
  })
  .meta({ id: 'ColumnValue' });

/** The routes, over what reading pages takes of a cluster. */
export function readingRowsRoutes(access: PageAccess): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_data/values',
      operationId: 'listColumnValues',
      tag,
      summary: 'List the distinct values of a column',
      example: { table_definition_id: 12, column: 'name', search: 'land', limit: 2 },
      description:
        'Among the rows of a grid filter, the most frequent first, then in their order. The filter of the column itself is left out, so that a set filter offers all values. `distinct` is the exact number of values; `truncated` when they are more than `limit`. A column that refers to another table has labels.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: exactNumbersQuery,
      resource,
      body: {
        ...tableInBody,
        column: z.string().meta({ description: 'The name of the column, or of a label: `country.$label`.' }),
        ...selectionInBody,
        search: z
          .string()
          .max(limits.nameCodePoints)
          .optional()
          .meta({ description: 'Only values that contain this text, or whose label does; ignoring case.' }),
        limit: z
          .int()
          .min(1)
          .max(limits.perPageMaximum)
          .default(limits.perPageDefault)
          .meta({ description: 'The most values to answer.' }),
      },
      response: z.object({ values: z.array(valueSchema), distinct: z.int(), truncated: z.boolean() }),
      handle: async ({ call, query, headers, body }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, ...input } = body();
        return new JsonText(await getValues(access, call, { ...readTableReference(input), exactNumbers, asOf }, input));
      },
    }),
  ];
}
