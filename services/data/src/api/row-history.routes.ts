// The routes of the history of rows: versions, restoring, reverting.
import { listParameters, pageSchema } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { readTableReference, tableInBody, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { getHistory } from '../records/history/history.ts';
import { restoreRecords, revertRecord } from '../records/history/restore.ts';
import type { WriteAccess } from '../records/idempotency.ts';
import { answerText, readIfMatch } from './entity-tags.ts';
import {
  idempotencyHeader,
  idListSchema,
  ifMatchHeader,
  recordIdText,
  rowSchema,
  versionNumber,
  versionSchema,
} from './table-data.schemas.ts';

const tag = 'Table data';
const resource = 'table_data';

/** The routes, over what they need of a cluster. */
export function rowHistoryRoutes(access: WriteAccess): Route[] {
  return [
    route({
      method: 'GET',
      path: '/table_data/{id}/history',
      operationId: 'listRecordVersions',
      tag,
      summary: 'List the versions of a row, newest first',
      description: 'Of deleted rows too. Each version holds from `valid_from` until `valid_to`, in today’s columns.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      params: { id: recordIdText },
      query: {
        ...tableInQuery,
        ...exactNumbersQuery,
        page: listParameters.page,
        per_page: listParameters.per_page,
      },
      response: pageSchema(versionSchema),
      handle: async ({ call, params, query, headers }) => {
        const request = { ...readTableReference(query), exactNumbers: readExactNumbers(query, headers) };
        const { page, per_page } = query;
        return new JsonText(await getHistory(access, call, request, { id: params.id, page, per_page }));
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/restore_records',
      operationId: 'restoreRecords',
      tag,
      summary: 'Undelete rows, all or nothing',
      example: { table_definition_id: 12, ids: [7] },
      description:
        'Rows that are not deleted stay as they are. 422 names each row that a rule of today keeps from coming back.',
      extension: true,
      requestHeaders: idempotencyHeader,
      resource,
      body: { ...tableInBody, ids: idListSchema },
      response: z.object({ message: z.string(), restored_count: z.int() }),
      handle: async ({ call, body, response }) => {
        const { ids, ...named } = body();
        return answerText(await restoreRecords(access, call, readTableReference(named), ids), response);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/{id}/revert',
      operationId: 'revertRecord',
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
      body: { ...tableInBody, version: versionNumber },
      response: rowSchema,
      handle: async ({ call, params, query, body, headers, response }) => {
        const exactNumbers = readExactNumbers(query, headers);
        const { version, ...named } = body();
        const request = { ...readTableReference(named), exactNumbers };
        const input = { id: params.id, version, versions: readIfMatch(headers['if-match']) };
        return answerText(await revertRecord(access, call, request, input), response);
      },
    }),
  ];
}
