// What requests for rows send and get: the schemas that check requests and make the OpenAPI
// document.
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import { compareOperators, textOperators } from '../pages/filter.ts';
import { type Channel, channels } from '../rows/origin.ts';

// svc_sk is 64 bits wide: it stays text from the request to the statement.
export const recordIdText = z
  .string()
  .regex(/^[1-9]\d{0,17}$/, 'must be a positive integer')
  .meta({ type: 'integer', minimum: 1, description: 'The `svc_sk` of the record.' });
export const recordIdNumber = z.int().min(1).transform(String).meta({ type: 'integer', minimum: 1 });

export const recordSchema = z.record(z.string(), z.unknown()).meta({
  id: 'RecordValues',
  description:
    'Column name to value. Integers, bigints and decimals as JSON numbers or strings (JavaScript rounds number literals of more than 15 digits: send strings); dates as ISO 8601.',
});
export const rowSchema = z
  .looseObject({
    svc_sk: z.int().meta({ description: 'With change_request_id, negative for a row that would be created.' }),
    svc_created_at: z.iso.datetime(),
    svc_updated_at: z.iso.datetime(),
    svc_is_deleted: z.boolean(),
    svc_version: z.int(),
    svc_updated_by: z.string().nullable(),
    svc_lookups: z.record(z.string(), z.unknown()).optional().meta({
      description: 'With include_lookups: foreign key column to the display value of the record it refers to.',
    }),
    svc_change: z
      .object({ operation_id: z.int(), kind: z.enum(['create', 'update', 'delete', 'restore']) })
      .optional()
      .meta({ description: 'With change_request_id: the operation that changes the row.' }),
  })
  .meta({
    id: 'TableRecord',
    description:
      'System columns, and the table’s own by name. A decimal or bigint is a JSON number with all its digits, which JSON.parse and most parsers round beyond 15; with exact_numbers it is a string.',
  });
export const versionSchema = z
  .object({
    svc_version: z.int(),
    valid_from: z.iso.datetime(),
    valid_to: z.iso.datetime().nullable().meta({ description: 'Null for the present version.' }),
    action: z.enum(['created', 'updated', 'deleted', 'restored', 'reverted']),
    channel: z.enum(Object.keys(channels) as [Channel, ...Channel[]]).nullable(),
    user_id: z.int().nullable(),
    application_id: z.int().nullable(),
    request_id: z.string().nullable(),
    change_request: z
      .object({ id: z.int(), requested_by: z.int().nullable(), approved_by: z.int().nullable() })
      .nullable()
      .meta({
        id: 'VersionChangeRequest',
        description: 'Of the channel `change_request`: the request that made the version, and the users behind it.',
      }),
    changed_columns: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Against the version before; null when that one is not kept.' }),
    record: rowSchema,
  })
  .meta({ id: 'RecordVersion' });
export const versionNumber = z.int().min(1).max(limits.int4);
const expectedVersion = versionNumber
  .optional()
  .meta({ description: 'The `svc_version` of the record; 412 when it has changed since.' });
export const keyTextsSchema = z.record(z.string(), z.string()).meta({
  description: 'The value of each column of the primary key: `key[code]=CH&key[year]=2026`.',
  example: { code: 'CH' },
});
export const operationSchema = z
  .discriminatedUnion('operation', [
    z.strictObject({ operation: z.literal('create'), record: recordSchema }).meta({ id: 'BatchCreate' }),
    z
      .strictObject({
        operation: z.literal('update'),
        id: recordIdNumber,
        record: recordSchema,
        version: expectedVersion,
      })
      .meta({ id: 'BatchUpdate' }),
    z
      .strictObject({ operation: z.literal('delete'), id: recordIdNumber, version: expectedVersion })
      .meta({ id: 'BatchDelete' }),
    z.strictObject({ operation: z.literal('upsert'), record: recordSchema }).meta({
      id: 'BatchUpsert',
      description: 'Changes the live row with the primary key of `record`, or creates one.',
    }),
  ])
  .meta({ id: 'BatchOperation' });
export const idListSchema = z.array(recordIdNumber).min(1).max(limits.idsPerDelete);
export const lookupsMeta = {
  description:
    'Adds `svc_lookups` to each record: for every foreign key column the display value of the record it refers to; null when there is none or you may not view its table.',
};
export const throughMeta = {
  description:
    'Rows as they would be with the operations of this change request that are neither rejected nor returned; `svc_change` marks those that it changes. Who approves on its branch reads these alone without `view` on the table. Not with `as_of`.',
};
export const ifMatchHeader = { 'If-Match': 'The ETag of the record; 412 when it has changed since.' };
export const ifNoneMatchHeader = { 'If-None-Match': '`*`: 412 when a record with this primary key exists.' };
export const idempotencyHeader = {
  'Idempotency-Key': 'A repeated request with the same key gets the first one’s answer, for 24 hours.',
};

// What the grid's plan takes, for the document; the plan checks it, with sentences of its own.
const gridValue = z.union([z.string(), z.number()]).nullable();
const gridConditionShape = {
  filterType: z.enum(['text', 'number', 'bigint', 'date', 'set']),
  type: z
    .enum([...new Set([...textOperators, ...compareOperators, 'inRange', 'blank', 'notBlank'] as const)])
    .optional()
    .meta({ description: 'The operator; not of `set`, nor of what combines conditions.' }),
  filter: gridValue.optional().meta({ description: 'Of text and numbers.' }),
  filterTo: gridValue.optional().meta({ description: 'The other end of `inRange`.' }),
  dateFrom: z.string().nullable().optional().meta({ description: 'Of dates: `YYYY-MM-DD`.' }),
  dateTo: z.string().nullable().optional().meta({ description: 'The other end of `inRange`.' }),
  values: z.array(z.string().nullable()).optional().meta({ description: 'Of `set`; null: rows without a value.' }),
};
const gridConditionSchema = z.object(gridConditionShape).meta({ id: 'GridCondition' });
const gridFilterSchema = z
  .object({
    ...gridConditionShape,
    operator: z.enum(['AND', 'OR']).optional().meta({ description: 'Combines `conditions`.' }),
    conditions: z.array(gridConditionSchema).optional(),
  })
  .meta({ id: 'GridFilter', description: 'A condition on a column, or several that `operator` combines.' });
export const filterModelSchema = z.unknown().meta({
  description: 'Column name to filter; `country.$label`: the display value of the record that `country` refers to.',
  form: z.record(z.string(), gridFilterSchema),
});
export const orSchema = z.unknown().meta({
  description: 'Rows that meet filterModel and at least one of these filter models.',
  form: z.array(z.record(z.string(), gridFilterSchema)),
});
export const searchSchema = z
  .string()
  .max(limits.nameCodePoints)
  .meta({
    description: `Rows that have every word, at most ${limits.searchWords}, in one of their text columns or in the label of a record that they refer to; ignoring case.`,
  });
export const columnsSchema = z
  .array(z.string())
  .max(limits.columnsPerTable)
  .meta({ description: 'Records show only these columns, and those of the system (`svc_`).' });
export const sortModelSchema = z.unknown().meta({
  description: 'The first one orders first.',
  form: z.array(
    z
      .object({
        colId: z.string().meta({ description: 'The name of the column, or of a label: `country.$label`.' }),
        sort: z.enum(['asc', 'desc']),
        type: z
          .enum(['default', 'absolute'])
          .optional()
          .meta({ description: '`absolute`: numbers without their sign.' }),
      })
      .meta({ id: 'GridSort' }),
  ),
});

// AG Grid's server-side row model sends these with every request; they must be empty.
const noColumns = (why: string) =>
  z
    .array(z.unknown())
    .refine((list) => list.length === 0, rule('not_allowed', `must be empty: ${why}`))
    .optional()
    .meta({ maxItems: 0, description: `As AG Grid sends it; ${why}.` });
export const gridGrouping = {
  rowGroupCols: noColumns('rows are not grouped'),
  groupKeys: noColumns('rows are not grouped'),
  valueCols: noColumns('rows are not grouped'),
  pivotCols: noColumns('rows are not pivoted'),
  pivotMode: z
    .boolean()
    .refine((mode) => !mode, rule('not_allowed', 'must be false: rows are not pivoted'))
    .optional()
    .meta({ const: false, description: 'As AG Grid sends it; rows are not pivoted.' }),
};
