// The routes of rows: /table_data. Each reads its input, calls one function, and answers.
import type { IncomingHttpHeaders } from 'node:http';
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { getGrid, listRecords, type PageAccess } from '../pages/pages.ts';
import { writeBatch } from '../records/batch/batch.ts';
import { getHistory } from '../records/history/history.ts';
import { restoreRecords, revertRecord } from '../records/history/restore.ts';
import type { WriteAccess } from '../records/idempotency.ts';
import { createRecord, deleteRecords, getRecord, updateRecord } from '../records/records.ts';
import { asOfSchema } from '../rows/as-of.ts';
import type { Catalogue, TableReference } from '../tables/catalogue.ts';
import {
  exactNumbersHeader,
  exactNumbersQuery,
  flagText,
  gridGrouping,
  idempotencyHeader,
  idListSchema,
  ifMatchHeader,
  lookupsMeta,
  operationSchema,
  pageMetaSchema,
  recordIdText,
  recordSchema,
  rowSchema,
  tableInBody,
  tableInQuery,
  versionNumber,
  versionSchema,
} from './table-data.schemas.ts';

const tag = 'Table data';
// A body may be nested under it; a column of this name stays a column.
const resource = 'table_data';

type Named = { table_definition_id?: number; table_definition_key?: string; branch_id?: number };

// The table by its id, or by its key and branch; by both when they name the same table.
async function readReference(catalogue: Catalogue, accountId: number, named: Named): Promise<TableReference> {
  const { table_definition_id: id, table_definition_key: key, branch_id: branchId } = named;
  if (key !== undefined && branchId === undefined)
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'branch_id is required with table_definition_key.',
      field: 'branch_id',
    });
  if (id === undefined) {
    if (key !== undefined && branchId !== undefined) return { key, branchId };
    throw new ServiceError('bad_request', {
      code: 'blank',
      message: 'table_definition_id is required, or table_definition_key with branch_id.',
      field: 'table_definition_id',
    });
  }
  if (branchId === undefined) return { id };
  const table = await catalogue.get(accountId, { id });
  if (table.branch_id !== branchId || (key !== undefined && table.key !== key))
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'table_definition_id names another table than branch_id and table_definition_key.',
      field: 'table_definition_id',
    });
  return { id };
}

function answerText({ body, etag }: Answer, response: { setHeader(name: string, value: string): unknown }): JsonText {
  if (etag !== undefined) response.setHeader('ETag', etag);
  return new JsonText(body);
}

// Whether decimals and bigints are shown as strings: the parameter or the header is enough.
function readExactNumbers(query: { exact_numbers?: boolean }, headers: IncomingHttpHeaders): boolean {
  const header = headers['exact-numbers'];
  if (header !== undefined && header !== 'true' && header !== 'false')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: 'Exact-Numbers must be true or false.',
      field: 'Exact-Numbers',
      params: { allowed: ['true', 'false'] },
    });
  return header === 'true' || query.exact_numbers === true;
}

// The versions of If-Match; undefined when any will do.
function readIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').flatMap((each) => {
    const version = /^\s*"(\d{1,9})"\s*$/.exec(header.includes(',') ? each : header)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** The routes of rows, over what they need of a cluster. */
export function tableDataRoutes(access: PageAccess & WriteAccess): Route[] {
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
        ...tableInBody,
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
        ...gridGrouping,
        include_deleted: z.boolean().optional(),
        as_of: asOfSchema.optional(),
        include_lookups: z.boolean().optional().meta(lookupsMeta),
      },
      response: z.object({ rows: z.array(rowSchema), rowCount: z.int() }),
      handle: async ({ call, query, headers, body }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, include_lookups: includeLookups, ...model } = body();
        const reference = await readReference(access.catalogue, call.accountId, model);
        return new JsonText(await getGrid(access, call, { ...reference, exactNumbers, asOf, includeLookups }, model));
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
        ...tableInQuery,
        include_deleted: flagText.optional(),
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        ...exactNumbersQuery,
        ...listParameters,
      },
      response: z.object({
        data: z.array(rowSchema),
        meta: pageMetaSchema,
      }),
      handle: async ({ call, query, headers }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const reference = await readReference(access.catalogue, call.accountId, query);
        const { as_of: asOf, include_lookups: includeLookups } = query;
        return new JsonText(
          await listRecords(access, call, { ...reference, exactNumbers, asOf, includeLookups }, query),
        );
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
      response: rowSchema,
      handle: async ({ call, params, query, headers, response }) => {
        const { table_definition_id: id, as_of: asOf, include_lookups: includeLookups } = query;
        const request = { id, exactNumbers: readExactNumbers(query, headers), asOf, includeLookups };
        return answerText(await getRecord(access, call, request, params.id), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data',
      tag,
      summary: 'Create a row',
      example: { table_definition_id: 12, record: { code: 'CH', name: 'Switzerland' } },
      requestHeaders: { ...idempotencyHeader, ...exactNumbersHeader },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, record: recordSchema },
      status: 201,
      response: z.object({ record: rowSchema, message: z.string() }),
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, record } = body();
        const created = await createRecord(access, call, { id, exactNumbers }, record);
        return answerText({ ...created, body: `{"record":${created.body},"message":"Record created"}` }, response);
      },
    }),
    route({
      method: 'PATCH',
      path: '/table_data/{id}',
      tag,
      summary: 'Change columns of a row',
      example: { table_definition_id: 12, record: { name: 'Swiss Confederation' } },
      requestHeaders: { ...ifMatchHeader, ...exactNumbersHeader },
      description:
        'Changes only the columns that `record` names; when it has these values already, it stays as it is. `If-Match` with the ETag of the record guards against lost updates.',
      params: { id: recordIdText },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, record: recordSchema },
      response: rowSchema,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, record } = body();
        const input = { id: params.id, record, versions: readIfMatch(headers['if-match']) };
        return answerText(await updateRecord(access, call, { id, exactNumbers }, input), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/delete_records',
      tag,
      summary: 'Soft-delete rows, all or nothing',
      example: { table_definition_id: 12, ids: [7] },
      requestHeaders: idempotencyHeader,
      resource,
      body: { table_definition_id: idSchema, ids: idListSchema },
      response: z.object({ message: z.string(), deleted_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { table_definition_id: id, ids } = body();
        return answerText(await deleteRecords(access, call, { id }, ids), response);
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
      requestHeaders: { ...idempotencyHeader, ...exactNumbersHeader },
      query: exactNumbersQuery,
      resource,
      body: {
        ...tableInBody,
        operations: z.array(operationSchema).min(1).max(limits.operationsPerBatch),
      },
      response: z.object({
        created: z.array(rowSchema).meta({ description: 'In the order of the operations.' }),
        updated: z.array(rowSchema).meta({ description: 'In the order of the operations.' }),
        deleted_count: z.int().meta({ description: 'Rows that were live until now.' }),
        message: z.string(),
      }),
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { operations, ...named } = body();
        const reference = await readReference(access.catalogue, call.accountId, named);
        return answerText(await writeBatch(access, call, { ...reference, exactNumbers }, operations), response);
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
      response: z.object({ data: z.array(versionSchema), meta: pageMetaSchema }),
      handle: async ({ call, params, query, headers }) => {
        const reference = { id: query.table_definition_id, exactNumbers: readExactNumbers(query, headers) };
        const { page, per_page } = query;
        return new JsonText(await getHistory(access, call, reference, { id: params.id, page, per_page }));
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
      requestHeaders: idempotencyHeader,
      resource,
      body: { table_definition_id: idSchema, ids: idListSchema },
      response: z.object({ message: z.string(), restored_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { table_definition_id: id, ids } = body();
        return answerText(await restoreRecords(access, call, { id }, ids), response);
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
      requestHeaders: { ...ifMatchHeader, ...idempotencyHeader, ...exactNumbersHeader },
      params: { id: recordIdText },
      query: exactNumbersQuery,
      resource,
      body: { table_definition_id: idSchema, version: versionNumber },
      response: rowSchema,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { table_definition_id: id, version } = body();
        const input = { id: params.id, version, versions: readIfMatch(headers['if-match']) };
        return answerText(await revertRecord(access, call, { id, exactNumbers }, input), response);
      },
    }),
  ];
}
