// Which rows an export has, in which order, and which columns. Data checks what they mean when the
// export is created; here they are one JSON text, numbers as they were written.
import type { BulkReadRequest } from '@almanac/protos/generated/almanac/data/v1/BulkReadRequest.ts';
import { idSchema } from '@almanac/service-kit/api/input';
import { parseJson } from '@almanac/service-kit/api/json-body';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { data_export } from '../generated/prisma/client.ts';

const asInGrid = (what: string) => `Extension, with the pattern full only: ${what}, as POST /table_data/grid takes it.`;

/** The criteria of POST /exports. */
export const criteriaFields = {
  filterModel: z
    .unknown()
    .optional()
    .meta({
      description: asInGrid('only the rows that meet this filter model'),
      form: z.record(z.string(), z.looseObject({})),
    }),
  or: z
    .unknown()
    .optional()
    .meta({
      description: asInGrid('only rows that meet one of these filter models'),
      form: z.array(z.record(z.string(), z.looseObject({}))),
    }),
  q: z
    .string()
    .max(limits.nameCodePoints)
    .nullish()
    .meta({ description: asInGrid('only rows that have every word') }),
  sortModel: z
    .unknown()
    .optional()
    .meta({
      description: `${asInGrid('the order of the rows')} By \`svc_sk\` without it.`,
      form: z.array(z.looseObject({ colId: z.string(), sort: z.enum(['asc', 'desc']) })),
    }),
  columns: z.array(z.string()).max(limits.columnsPerTable).nullish().meta({
    description:
      'Extension, with the pattern full only: the file has these columns, in this order, and of the system (`svc_`) those alone that are named. Not with for_editing.',
  }),
  include_lookups: z.boolean().nullish().meta({
    description:
      'Extension, with the pattern full only: behind each column that refers to a record stands `<column>.$label`, the display value of the record; empty when there is none or you may not view its table. Not with for_editing.',
  }),
  change_request_id: idSchema.nullish().meta({
    description:
      'Extension, with the pattern full only: rows as they would be with the operations of this change request that are neither rejected nor returned; a row that would be created has a negative `svc_sk`. 404 when you don’t see the request. Not with as_of or for_editing.',
  }),
};
type Input = z.input<z.ZodObject<typeof criteriaFields>>;

/** The criteria of an export, as they were sent. */
export const criteriaSchema = z
  .object({
    filterModel: z.record(z.string(), z.unknown()).optional(),
    or: z.array(z.record(z.string(), z.unknown())).optional(),
    q: z.string().optional(),
    sortModel: z.array(z.record(z.string(), z.unknown())).optional(),
    columns: z.array(z.string()).optional(),
    include_lookups: z.boolean().optional(),
    change_request_id: z.int().optional(),
  })
  .meta({ id: 'ExportCriteria' });
type Criteria = z.input<typeof criteriaSchema>;

/** The JSON of those criteria that are given; null without any. 422 when it is too long. */
export function readCriteria(input: Input): string | null {
  const wanted = { ...input, include_lookups: input.include_lookups || undefined };
  const given = (Object.keys(criteriaFields) as (keyof Input)[])
    .filter((name) => wanted[name] !== undefined && wanted[name] !== null)
    .map((name) => [name, wanted[name]]);
  if (given.length === 0) return null;
  const text = JSON.stringify(Object.fromEntries(given));
  if (Buffer.byteLength(text) <= limits.exportCriteriaBytes) return text;
  const maximum = limits.exportCriteriaBytes;
  throw validationFailed({
    code: 'too_long',
    message: `The criteria are too long (maximum is ${maximum} bytes of JSON)`,
    field: 'filterModel',
    params: { maximum },
  });
}

/** The criteria as they are shown. */
export const showCriteria = ({ criteria }: Pick<data_export, 'criteria'>): Criteria | null =>
  criteria === null ? null : (parseJson(Buffer.from(criteria), 'criteria') as Criteria);

type Requested = Pick<
  data_export,
  'table_definition_id' | 'pattern' | 'high_water_mark' | 'as_of' | 'for_editing' | 'criteria'
>;

/** What data is asked for. */
export const readRequestOf = (row: Requested): BulkReadRequest => ({
  table_definition_id: row.table_definition_id,
  pattern: row.pattern,
  high_water_mark: row.high_water_mark ?? '',
  as_of: row.as_of ?? '',
  for_editing: row.for_editing,
  criteria: row.criteria ?? '',
});
