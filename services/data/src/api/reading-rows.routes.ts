// Routes that answer facts of the rows of a filter without showing them: the values of a column,
// the place of a row, and groups.
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import type { PageAccess } from '../pages/pages.ts';
import { asOfSchema } from '../rows/as-of.ts';
import { getGroups } from '../summaries/groups.ts';
import { aggregateFunctions } from '../summaries/groups-sql.ts';
import { getPosition } from '../summaries/position.ts';
import { getValues } from '../summaries/values.ts';
import { filterModelSchema, orSchema, recordIdNumber, searchSchema, sortModelSchema } from './table-data.schemas.ts';

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

const windowInBody = {
  startRow: z.int().min(0).max(limits.int4).meta({ description: 'The first group, counted from 0.' }),
  endRow: z
    .int()
    .min(0)
    .max(limits.int4)
    .meta({ description: `The group after the last one; at most ${limits.gridRows} after startRow.` }),
};

const cellSchema = z.unknown().meta({ description: 'As a record shows it; null: no value, or the empty text.' });
const labelSchema = z.unknown().meta({
  description: 'The display value of the record it refers to; null when there is none or you may not view its table.',
});

const cellsSchema = z.record(z.string(), z.unknown());
const groupSchema = z
  .object({
    values: cellsSchema.meta({
      description: 'Column name to value, as a record shows it; null: no value, or the empty text.',
    }),
    labels: cellsSchema.optional().meta({
      description:
        'The labels of those columns that alone refer to another table; null when there is none or you may not view its table.',
    }),
    count: z.int().meta({ description: 'The rows of the group.' }),
    aggregates: z
      .array(z.unknown())
      .meta({ description: 'In the order of the request; null when no row of the group has a value.' }),
  })
  .meta({ id: 'RowGroup' });
const aggregateSchema = z
  .strictObject({
    column: z.string().meta({ description: 'The name of the column, or of a label: `country.$label`.' }),
    function: z.enum(aggregateFunctions).meta({
      description:
        '`count`: of rows with a value. `sum`, `avg`: of numbers. `min`, `max`: of numbers, texts and times.',
    }),
  })
  .meta({ id: 'GroupAggregate' });

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
    route({
      method: 'POST',
      path: '/table_data/position',
      operationId: 'getRowPosition',
      tag,
      summary: 'Find the place of a row in a list',
      example: { table_definition_id: 12, id: 7, sortModel: [{ colId: 'name', sort: 'asc' }] },
      description:
        'Where the row is among the rows of a grid query, for its `startRow`: `index` is counted from 0. It is null when there is no such row or the filter leaves it out.',
      extension: true,
      resource,
      body: {
        ...tableInBody,
        id: recordIdNumber.meta({ description: 'The `svc_sk` of the row.' }),
        ...selectionInBody,
        sortModel: sortModelSchema.optional(),
      },
      response: z.object({ index: z.int().nullable() }),
      handle: async ({ call, body }) => {
        const { as_of: asOf, ...input } = body();
        return new JsonText(await getPosition(access, call, { ...readTableReference(input), asOf }, input));
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/groups',
      operationId: 'listRowGroups',
      tag,
      summary: 'Group rows by columns',
      example: {
        table_definition_id: 12,
        columns: ['name'],
        aggregates: [{ column: 'alpha2', function: 'max' }],
        startRow: 0,
        endRow: 2,
      },
      description:
        'A page of the groups of the rows of a grid filter, by the values of one to three columns; in their ascending order, but for what `sortModel` says. `groupCount` is the exact number of groups.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: exactNumbersQuery,
      resource,
      body: {
        ...tableInBody,
        columns: z
          .array(z.string())
          .min(1)
          .max(limits.groupColumns)
          .meta({ description: 'The names of columns, or of labels: `country.$label`.' }),
        aggregates: z
          .array(aggregateSchema)
          .max(limits.aggregates)
          .default([])
          .meta({ description: 'What to compute of each group.' }),
        ...selectionInBody,
        sortModel: sortModelSchema.optional(),
        ...windowInBody,
      },
      response: z.object({ groups: z.array(groupSchema), groupCount: z.int() }),
      handle: async ({ call, query, headers, body }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, ...input } = body();
        return new JsonText(await getGroups(access, call, { ...readTableReference(input), exactNumbers, asOf }, input));
      },
    }),
  ];
}
