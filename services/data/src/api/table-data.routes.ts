// The routes of rows: /table_data. Each reads its input, calls one function, and answers.
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, flagText, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInBody, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { getGrid, listRecords, type PageAccess } from '../pages/pages.ts';
import { writeBatch } from '../records/batch/batch.ts';
import { deleteRecordByKey, getRecordByKey, upsertRecord } from '../records/by-key.ts';
import type { WriteAccess } from '../records/idempotency.ts';
import { createRecord, deleteRecords, getRecord, updateRecord } from '../records/records.ts';
import { asOfSchema } from '../rows/as-of.ts';
import type { ChangeRequestReading } from '../tables/open-table.ts';
import { answerText, readCondition, readIfMatch } from './entity-tags.ts';
import {
  columnsSchema,
  filterModelSchema,
  gridGrouping,
  idempotencyHeader,
  idListSchema,
  ifMatchHeader,
  ifNoneMatchHeader,
  keyTextsSchema,
  lookupsMeta,
  operationSchema,
  orSchema,
  recordIdText,
  recordSchema,
  rowSchema,
  searchSchema,
  sortModelSchema,
  throughMeta,
} from './table-data.schemas.ts';

const tag = 'Table data';
// A body may be nested under it; a column of this name stays a column.
const resource = 'table_data';

/** What opens a change request for reading: `change-requests/visibility.ts`. */
type ChangeRequests = { openReading(call: CallContext, id: number): Promise<ChangeRequestReading> };

/** The routes of rows, over what they need of a cluster. */
export function tableDataRoutes(access: PageAccess & WriteAccess, changeRequests: ChangeRequests): Route[] {
  const readThrough = async (call: CallContext, id: number | undefined, asOf: string | undefined) => {
    if (id === undefined) return undefined;
    if (asOf === undefined) return changeRequests.openReading(call, id);
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'Send as_of or change_request_id, not both.',
      field: 'change_request_id',
    });
  };
  return [
    route({
      method: 'POST',
      path: '/table_data/grid',
      operationId: 'queryGrid',
      tag,
      summary: 'Query rows with filters, sorts and a window',
      example: {
        table_definition_id: 12,
        startRow: 0,
        endRow: 2,
        filterModel: { name: { filterType: 'text', type: 'contains', filter: 'land' } },
        sortModel: [{ colId: 'alpha2', sort: 'asc' }],
      },
      description:
        'The request model of AG Grid, with the meaning of its client-side filters and sorts (docs/how-to/grid.md). `rowCount` is the exact number of matches; `endRow` is exclusive.',
      requestHeaders: exactNumbersHeader,
      query: exactNumbersQuery,
      resource,
      body: {
        ...tableInBody,
        startRow: z.int().min(0).max(limits.int4).meta({ description: 'The first row, counted from 0.' }),
        endRow: z
          .int()
          .min(0)
          .max(limits.int4)
          .meta({ description: `The row after the last one; at most ${limits.gridRows} after startRow.` }),
        filterModel: filterModelSchema.optional(),
        or: orSchema.optional(),
        q: searchSchema.optional(),
        sortModel: sortModelSchema.optional(),
        columns: columnsSchema.optional(),
        ...gridGrouping,
        include_deleted: z.boolean().optional().meta({ description: 'Deleted rows too.' }),
        as_of: asOfSchema.optional(),
        include_lookups: z.boolean().optional().meta(lookupsMeta),
        change_request_id: idSchema.optional().meta(throughMeta),
      },
      response: z.object({ rows: z.array(rowSchema), rowCount: z.int() }),
      handle: async ({ call, query, headers, body }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, include_lookups: includeLookups, change_request_id: changeRequestId, ...model } = body();
        const reference = readTableReference(model);
        const through = await readThrough(call, changeRequestId, asOf);
        const request = { ...reference, exactNumbers, asOf, includeLookups, through };
        return new JsonText(await getGrid(access, call, request, model));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data',
      operationId: 'listRecords',
      tag,
      summary: 'List rows',
      description:
        'For tokens that may only read, which cannot `POST` a grid query. `q` and `sort` name columns of the table.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: {
        ...tableInQuery,
        include_deleted: flagText.optional().meta({ description: 'Deleted rows too.' }),
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        change_request_id: idTextSchema.optional().meta(throughMeta),
        ...exactNumbersQuery,
        ...listParameters,
      },
      response: pageSchema(rowSchema),
      handle: async ({ call, query, headers }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const reference = readTableReference(query);
        const { as_of: asOf, include_lookups: includeLookups } = query;
        const through = await readThrough(call, query.change_request_id, asOf);
        const request = { ...reference, exactNumbers, asOf, includeLookups, through };
        return new JsonText(await listRecords(access, call, request, query));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/{id}',
      operationId: 'getRecord',
      tag,
      summary: 'Read one row',
      description:
        'The ETag of the answer is its version, for `If-Match`. A deleted row is shown with `svc_is_deleted`.',
      requestHeaders: exactNumbersHeader,
      params: { id: recordIdText },
      query: {
        ...tableInQuery,
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        change_request_id: idTextSchema.optional().meta(throughMeta),
        ...exactNumbersQuery,
      },
      response: rowSchema,
      handle: async ({ call, params, query, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, include_lookups: includeLookups } = query;
        const reference = readTableReference(query);
        const through = await readThrough(call, query.change_request_id, asOf);
        const request = { ...reference, exactNumbers, asOf, includeLookups, through };
        return answerText(await getRecord(access, call, request, params.id), response);
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/by_key',
      operationId: 'getRecordByKey',
      tag,
      summary: 'Read one row by its primary key',
      description:
        'The live row with this key, whatever its id; with `as_of` the one that had the key then. A value that is none of its column’s type is 400.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      query: {
        ...tableInQuery,
        key: keyTextsSchema,
        as_of: asOfSchema.optional(),
        include_lookups: flagText.optional().meta(lookupsMeta),
        ...exactNumbersQuery,
      },
      response: rowSchema,
      handle: async ({ call, query, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { as_of: asOf, include_lookups: includeLookups, key } = query;
        const request = { ...readTableReference(query), exactNumbers, asOf, includeLookups };
        return answerText(await getRecordByKey(access, call, request, key), response);
      },
    }),
    route({
      method: 'PUT',
      path: '/table_data/by_key',
      operationId: 'upsertRecord',
      tag,
      summary: 'Create a row, or change the one with its primary key',
      example: {
        table_definition_id: 12,
        record: { alpha2: 'CH', alpha3: 'CHE', numeric_code: '756', name: 'Switzerland' },
      },
      requestHeaders: { ...ifMatchHeader, ...ifNoneMatchHeader, ...exactNumbersHeader },
      description:
        '`record` names all columns of the primary key. When a live row has this key, the columns that `record` names change and the others stay (200; a row that has these values already stays as it is). ' +
        'Otherwise a row is created, without values in the columns that `record` does not name (201), also when a deleted row had the key.',
      extension: true,
      query: exactNumbersQuery,
      resource,
      body: { ...tableInBody, record: recordSchema },
      mayCreate: true,
      response: rowSchema,
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const condition = readCondition(headers);
        const { record, ...named } = body();
        const request = { ...readTableReference(named), exactNumbers };
        const { isNew, ...answer } = await upsertRecord(access, call, request, { record, condition });
        return answerText(answer, response, isNew ? 201 : undefined);
      },
    }),
    route({
      method: 'DELETE',
      path: '/table_data/by_key',
      operationId: 'deleteRecordByKey',
      tag,
      summary: 'Soft-delete the row with a primary key',
      description: 'The live row with this key. It can be restored by its id.',
      extension: true,
      requestHeaders: ifMatchHeader,
      query: { ...tableInQuery, key: keyTextsSchema },
      status: 204,
      handle: async ({ call, query, headers }) => {
        const input = { key: query.key, versions: readIfMatch(headers['if-match']) };
        await deleteRecordByKey(access, call, readTableReference(query), input);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data',
      operationId: 'createRecord',
      tag,
      summary: 'Create a row',
      description:
        '422 names every rule that the row breaks. Tables of the load type `source` take rows from imports alone.',
      example: {
        table_definition_id: 12,
        record: { alpha2: 'EU', alpha3: 'EUE', numeric_code: '998', name: 'European Union' },
      },
      requestHeaders: { ...idempotencyHeader, ...exactNumbersHeader },
      query: exactNumbersQuery,
      resource,
      body: { ...tableInBody, record: recordSchema },
      status: 201,
      response: z.object({ record: rowSchema, message: z.string() }),
      handle: async ({ call, query, headers, body, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { record, ...named } = body();
        const request = { ...readTableReference(named), exactNumbers };
        const created = await createRecord(access, call, request, record);
        return answerText({ ...created, body: `{"record":${created.body},"message":"Record created"}` }, response);
      },
    }),
    route({
      method: 'PATCH',
      path: '/table_data/{id}',
      operationId: 'updateRecord',
      tag,
      summary: 'Change columns of a row',
      example: { table_definition_id: 12, record: { name: 'Swiss Confederation' } },
      requestHeaders: { ...ifMatchHeader, ...exactNumbersHeader },
      description:
        'Changes only the columns that `record` names; when it has these values already, it stays as it is. `If-Match` with the ETag of the record guards against lost updates.',
      params: { id: recordIdText },
      query: exactNumbersQuery,
      resource,
      body: { ...tableInBody, record: recordSchema },
      response: rowSchema,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { record, ...named } = body();
        const request = { ...readTableReference(named), exactNumbers };
        const input = { id: params.id, record, versions: readIfMatch(headers['if-match']) };
        return answerText(await updateRecord(access, call, request, input), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/delete_records',
      operationId: 'deleteRecords',
      tag,
      summary: 'Soft-delete rows, all or nothing',
      description:
        'The rows stay, with `svc_is_deleted`, and can be restored. 404 names ids that are unknown, 422 rows that others refer to.',
      example: { table_definition_id: 12, ids: [7] },
      requestHeaders: idempotencyHeader,
      resource,
      body: { ...tableInBody, ids: idListSchema },
      response: z.object({ message: z.string(), deleted_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { ids, ...named } = body();
        return answerText(await deleteRecords(access, call, readTableReference(named), ids), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/batch',
      operationId: 'writeBatch',
      tag,
      summary: 'Create, change, upsert and delete rows, all or nothing',
      example: {
        table_definition_id: 12,
        operations: [
          {
            operation: 'create',
            record: { alpha2: 'UN', alpha3: 'UNO', numeric_code: '997', name: 'United Nations' },
          },
          { operation: 'update', id: 7, record: { name: 'Lost continent' } },
          {
            operation: 'upsert',
            record: { alpha2: 'CH', alpha3: 'CHE', numeric_code: '756', name: 'Switzerland' },
          },
        ],
      },
      description:
        'Up to 1,000 operations on rows of one table, no two on the same row. Whatever their order, deletions come first, then changes, then new rows, and references are checked when all is done. ' +
        'An upsert is a change of the live row that has its primary key before the batch, or else a new row; its record is among `updated` or `created`. ' +
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
        const reference = readTableReference(named);
        return answerText(await writeBatch(access, call, { ...reference, exactNumbers }, operations), response);
      },
    }),
  ];
}
