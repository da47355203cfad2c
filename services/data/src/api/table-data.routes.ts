// The HTTP edge of rows: /table_data.

import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters } from '@almanac/service-kit/api/list-query';
import { JsonText, type Route, route } from '@almanac/service-kit/api/route';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { DataContext } from '../context.ts';
import { getGrid, listRecords } from '../pages/pages.ts';
import { writeBatch } from '../records/batch/batch.ts';
import { getHistory } from '../records/history/history.ts';
import { restoreRecords, revertRecord } from '../records/history/restore.ts';
import { createRecord, deleteRecords, getRecord, updateRecord } from '../records/records.ts';
import { asOfSchema } from '../rows/as-of.ts';
import { type Channel, channels } from '../rows/origin.ts';
import type { TableReference } from '../tables/catalogue.ts';
import { exactNumbersHeader, exactNumbersQuery, readExactNumbers } from './exact-numbers.ts';

const tag = 'Table data';
/** A body may be nested under it. What is in a record is the record's, whatever a column is called. */
const resource = 'table_data';

/** svc_sk is 64 bits wide: it travels as text from the edge to the statement. */
const recordIdText = z
  .string()
  .regex(/^[1-9]\d{0,17}$/, 'must be a positive integer')
  .meta({ type: 'integer', minimum: 1 });
const recordId = z.int().min(1).transform(String).meta({ type: 'integer', minimum: 1 });

const keySchema = z.string().min(1).max(limits.nameCodePoints);
const recordSchema = z.record(z.string(), z.unknown()).meta({
  description:
    'Column name to value. Integers, bigints and decimals as JSON numbers or strings (JavaScript rounds number literals of more than 15 digits: send strings); dates as ISO 8601.',
});
const row = z
  .looseObject({
    svc_sk: z.int(),
    svc_created_at: z.iso.datetime(),
    svc_updated_at: z.iso.datetime(),
    svc_is_deleted: z.boolean(),
    svc_version: z.int(),
    svc_updated_by: z.string().nullable(),
    svc_lookups: z.record(z.string(), z.unknown()).optional().meta({
      description: 'With include_lookups: foreign key column to the display value of the record it refers to.',
    }),
  })
  .meta({
    description:
      'System columns, and the table’s own by name. A decimal or bigint is a JSON number with all its digits, which JSON.parse and most parsers round beyond 15; with exact_numbers it is a string.',
  });
const version = z.object({
  svc_version: z.int(),
  valid_from: z.iso.datetime(),
  valid_to: z.iso.datetime().nullable().meta({ description: 'Null for the present version.' }),
  action: z.enum(['created', 'updated', 'deleted', 'restored', 'reverted']),
  channel: z.enum(Object.keys(channels) as [Channel, ...Channel[]]).nullable(),
  user_id: z.int().nullable(),
  application_id: z.int().nullable(),
  request_id: z.string().nullable(),
  changed_columns: z
    .array(z.string())
    .nullable()
    .meta({ description: 'Against the version before; null when that one is not kept.' }),
  record: row,
});
const versionNumber = z.int().min(1).max(limits.int4);
const guard = versionNumber
  .optional()
  .meta({ description: 'The `svc_version` of the record; 412 when it has changed since.' });
const operation = z.discriminatedUnion('operation', [
  z.strictObject({ operation: z.literal('create'), record: recordSchema }),
  z.strictObject({ operation: z.literal('update'), id: recordId, record: recordSchema, version: guard }),
  z.strictObject({ operation: z.literal('delete'), id: recordId, version: guard }),
]);
const pageMeta = z.object({ page: z.int(), per_page: z.int(), total_count: z.int(), total_pages: z.int() });
const idList = z.array(recordId).min(1).max(limits.idsPerDelete);
const lookupsMeta = {
  description:
    'Adds `svc_lookups` to each record: for every foreign key column the display value of the record it refers to; null when there is none or you may not view its table.',
};
const guarded = { 'If-Match': 'The ETag of the record; 412 when it has changed since.' };
const repeatable = {
  'Idempotency-Key': 'A repeated request with the same key gets the first one’s answer, for 24 hours.',
};
const flagText = z.enum(['true', 'false']).transform((text) => text === 'true');

type Named = { table_definition_id?: number; table_definition_key?: string; branch_id?: number };

// Either form names the table; both may be given when they name the same one.
async function readReference(ctx: DataContext, accountId: number, named: Named): Promise<TableReference> {
  const { table_definition_id: id, table_definition_key: key, branch_id: branchId } = named;
  if (key !== undefined && branchId === undefined)
    throw new ServiceError('bad_request', 'branch_id is required with table_definition_key.');
  if (id === undefined) {
    if (key !== undefined && branchId !== undefined) return { key, branchId };
    throw new ServiceError('bad_request', 'table_definition_id is required, or table_definition_key with branch_id.');
  }
  if (branchId === undefined) return { id };
  const table = await ctx.catalogue.get(accountId, { id });
  if (table.branch_id !== branchId || (key !== undefined && table.key !== key))
    throw new ServiceError(
      'bad_request',
      'table_definition_id names another table than branch_id and table_definition_key.',
    );
  return { id };
}

function answerText({ body, etag }: Answer, response: { setHeader(name: string, value: string): unknown }): JsonText {
  if (etag !== undefined) response.setHeader('ETag', etag);
  return new JsonText(body);
}

/** The versions of If-Match; undefined when any will do. */
export function readIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').flatMap((each) => {
    const version = /^\s*"(\d{1,9})"\s*$/.exec(header.includes(',') ? each : header)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

// AG Grid's server-side row model sends these with every request; a request that groups nothing is one that can be answered.
const noColumns = (why: string) =>
  z
    .array(z.unknown())
    .refine((list) => list.length === 0, `must be empty: ${why}`)
    .optional()
    .meta({ maxItems: 0, description: `As AG Grid sends it; ${why}.` });
const groupingOfGrid = {
  rowGroupCols: noColumns('rows are not grouped'),
  groupKeys: noColumns('rows are not grouped'),
  valueCols: noColumns('rows are not grouped'),
  pivotCols: noColumns('rows are not pivoted'),
  pivotMode: z
    .boolean()
    .refine((mode) => !mode, 'must be false: rows are not pivoted')
    .optional()
    .meta({ const: false, description: 'As AG Grid sends it; rows are not pivoted.' }),
};

export function tableDataRoutes(ctx: DataContext): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_data/grid',
      tag,
      summary: 'Query rows with filters, sorts and a window',
      example: {
        table_definition_id: 12,
        startRow: 0,
        endRow: 100,
        filterModel: { name: { filterType: 'text', type: 'contains', filter: 'land' } },
        sortModel: [{ colId: 'code', sort: 'asc' }],
      },
      description:
        'The request model of AG Grid, with the meaning of its client-side filters and sorts (docs/how-to/grid.md). `rowCount` is the exact number of matches; `endRow` is exclusive.',
      requestHeaders: exactNumbersHeader,
      query: exactNumbersQuery,
      resource,
      body: {
        table_definition_id: idSchema.optional(),
        table_definition_key: keySchema.optional(),
        branch_id: idSchema.optional(),
        startRow: z.int().min(0).max(limits.int4),
        endRow: z.int().min(0).max(limits.int4),
        filterModel: z.unknown().optional().meta({
          type: 'object',
          description:
            'Column name to filter {filterType: text | number | bigint | date | set, type, filter, filterTo, dateFrom, dateTo, values}, or several on one column {operator: AND | OR, conditions}.',
        }),
        sortModel: z.unknown().optional().meta({
          type: 'array',
          description: 'Items {colId, sort: asc | desc, type: default | absolute}.',
        }),
        ...groupingOfGrid,
        include_deleted: z.boolean().optional(),
        as_of: asOfSchema.optional(),
        include_lookups: z.boolean().optional().meta(lookupsMeta),
      },
      response: z.object({ rows: z.array(row), rowCount: z.int() }),
      handle: async ({ call, query, headers, body }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id, table_definition_key, branch_id, as_of, include_lookups, ...request } = body();
        const reference = await readReference(ctx, call.accountId, {
          table_definition_id,
          table_definition_key,
          branch_id,
        });
        const how = { asOf: as_of, includeLookups: include_lookups };
        return new JsonText(await getGrid(ctx, call, { ...reference, exactNumbers }, request, how));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data',
      tag,
      summary: 'List rows',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: {
        table_definition_id: idTextSchema.optional(),
        table_definition_key: keySchema.optional(),
        branch_id: idTextSchema.optional(),
        include_deleted: flagText.optional(),
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        ...exactNumbersQuery,
        ...listParameters,
      },
      response: z.object({
        data: z.array(row),
        meta: pageMeta,
      }),
      handle: async ({ call, query, headers }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const reference = await readReference(ctx, call.accountId, query);
        const { page, per_page, sort, q, include_deleted, as_of, include_lookups } = query;
        const request = { page, per_page, sort, q, includeDeleted: include_deleted === true };
        const how = { asOf: as_of, includeLookups: include_lookups };
        return new JsonText(await listRecords(ctx, call, { ...reference, exactNumbers }, request, how));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/{id}',
      tag,
      summary: 'Read one row',
      requestHeaders: exactNumbersHeader,
      params: { id: recordIdText },
      query: {
        table_definition_id: idTextSchema,
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        ...exactNumbersQuery,
      },
      response: row,
      handle: async ({ call, params, query, headers, response }) => {
        const { table_definition_id: id, as_of, include_lookups } = query;
        const reference = { id, exactNumbers: readExactNumbers(query, headers) };
        const how = { asOf: as_of, includeLookups: include_lookups };
        return answerText(await getRecord(ctx, call, reference, params.id, how), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data',
      tag,
      summary: 'Create a row',
      example: { table_definition_id: 12, record: { code: 'CH', name: 'Switzerland' } },
      requestHeaders: { ...repeatable, ...exactNumbersHeader },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, record: recordSchema },
      status: 201,
      response: z.object({ record: row, message: z.string() }),
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, record } = body();
        const created = await createRecord(ctx, call, { id, exactNumbers }, record);
        return answerText({ ...created, body: `{"record":${created.body},"message":"Record created"}` }, response);
      },
    }),
    route({
      method: 'PATCH',
      path: '/table_data/{id}',
      tag,
      summary: 'Change columns of a row',
      example: { table_definition_id: 12, record: { name: 'Swiss Confederation' } },
      requestHeaders: { ...guarded, ...exactNumbersHeader },
      description:
        'Changes only the columns that `record` names; when it has these values already, it stays as it is. `If-Match` with the ETag of the record guards against lost updates.',
      params: { id: recordIdText },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, record: recordSchema },
      response: row,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, record } = body();
        const input = { id: params.id, record, versions: readIfMatch(headers['if-match']) };
        return answerText(await updateRecord(ctx, call, { id, exactNumbers }, input), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/delete_records',
      tag,
      summary: 'Soft-delete rows, all or nothing',
      example: { table_definition_id: 12, ids: [7] },
      requestHeaders: repeatable,
      resource,
      body: { table_definition_id: idSchema, ids: idList },
      response: z.object({ message: z.string(), deleted_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { table_definition_id: id, ids } = body();
        return answerText(await deleteRecords(ctx, call, { id }, ids), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/batch',
      tag,
      summary: 'Create, change and delete rows, all or nothing',
      example: {
        table_definition_id: 12,
        operations: [
          { operation: 'create', record: { code: 'AT', name: 'Austria' } },
          { operation: 'update', id: 7, record: { name: 'Germany' } },
        ],
      },
      description:
        'Up to 1,000 operations on rows of one table, no two on the same row. Whatever their order, deletions come first, then changes, then new rows, and references are checked when all is done. ' +
        'A row that a change leaves as it is gets no new version. ' +
        'When anything is in the way nothing is done, and the answer names all of it by operation, counted from 0: 404 when records are absent, else 412 when they have another version, else 422.',
      extension: true,
      requestHeaders: { ...repeatable, ...exactNumbersHeader },
      query: exactNumbersQuery,
      resource,
      body: {
        table_definition_id: idSchema.optional(),
        table_definition_key: keySchema.optional(),
        branch_id: idSchema.optional(),
        operations: z.array(operation).min(1).max(limits.operationsPerBatch),
      },
      response: z.object({
        created: z.array(row).meta({ description: 'In the order of the operations.' }),
        updated: z.array(row).meta({ description: 'In the order of the operations.' }),
        deleted_count: z.int().meta({ description: 'Rows that were live until now.' }),
        message: z.string(),
      }),
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { operations, ...named } = body();
        const reference = await readReference(ctx, call.accountId, named);
        return answerText(await writeBatch(ctx, call, { ...reference, exactNumbers }, operations), response);
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/{id}/history',
      tag,
      summary: 'List the versions of a row, newest first',
      description: 'Of deleted rows too. Each version holds from `valid_from` until `valid_to`, in today’s columns.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      params: { id: recordIdText },
      query: {
        table_definition_id: idTextSchema,
        ...exactNumbersQuery,
        page: listParameters.page,
        per_page: listParameters.per_page,
      },
      response: z.object({ data: z.array(version), meta: pageMeta }),
      handle: async ({ call, params, query, headers }) => {
        const reference = { id: query.table_definition_id, exactNumbers: readExactNumbers(query, headers) };
        const { page, per_page } = query;
        return new JsonText(await getHistory(ctx, call, reference, { id: params.id, page, per_page }));
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/restore_records',
      tag,
      summary: 'Undelete rows, all or nothing',
      example: { table_definition_id: 12, ids: [7] },
      description:
        'Rows that are not deleted stay as they are. 422 names each row that a rule of today keeps from coming back.',
      extension: true,
      requestHeaders: repeatable,
      resource,
      body: { table_definition_id: idSchema, ids: idList },
      response: z.object({ message: z.string(), restored_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { table_definition_id: id, ids } = body();
        return answerText(await restoreRecords(ctx, call, { id }, ids), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/{id}/revert',
      tag,
      summary: 'Give a row the values of an earlier version',
      example: { table_definition_id: 12, version: 1 },
      description:
        'Writes a new version with the values that the named one has, under today’s rules; a deleted row is live again. A row that has these values already stays as it is.',
      extension: true,
      requestHeaders: { ...guarded, ...repeatable, ...exactNumbersHeader },
      params: { id: recordIdText },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, version: versionNumber },
      response: row,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, version } = body();
        const input = { id: params.id, version, versions: readIfMatch(headers['if-match']) };
        return answerText(await revertRecord(ctx, call, { id, exactNumbers }, input), response);
      },
    }),
  ];
}
