// The routes that write many rows of a table at once, by a filter or by the request that wrote
// them. Each reads its input, calls one function, and answers.
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { readTableReference, tableInBody } from '@almanac/service-kit/rights/table-reference';
import type { SetAccess } from '../records/sets/set-write.ts';
import { undoRequest } from '../records/sets/undo.ts';
import { deleteWhere, updateWhere } from '../records/sets/where.ts';
import {
  deletedWhereSchema,
  dryRunSchema,
  requestIdSchema,
  selectionInBody,
  undoneSchema,
  updatedWhereSchema,
} from './row-sets.schemas.ts';
import { idempotencyHeader, recordSchema } from './table-data.schemas.ts';

const tag = 'Table data';
const resource = 'table_data';

const countDemand =
  '`expected_count` is the number of rows that the caller has seen to match, for example the `rowCount` of the grid; with another number nothing is done and the problem has the present one. ';

/** The routes of sets of rows, over what they need of a cluster. */
export function rowSetRoutes(access: SetAccess): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_data/update_where',
      operationId: 'updateWhere',
      tag,
      summary: 'Change all rows that a filter finds',
      example: {
        table_definition_id: 12,
        filterModel: { name: { filterType: 'text', type: 'equals', filter: 'Lost Atlantis' } },
        set: { name: 'Atlantis' },
        dry_run: true,
      },
      description:
        'Gives every live row that `filterModel` finds the values of `set`, all or nothing, up to 100,000 rows. ' +
        countDemand +
        'Rows that have the values already get no new version. 422 names the rows that would break a rule.',
      extension: true,
      requestHeaders: idempotencyHeader,
      resource,
      body: {
        ...selectionInBody,
        set: recordSchema.meta({ description: 'The columns to change, and the value that all rows get.' }),
      },
      response: updatedWhereSchema,
      handle: async ({ call, body }) => {
        const { filterModel, q, all, expected_count, dry_run, set, ...named } = body();
        const input = { filterModel, q, all, expected_count, dry_run };
        return new JsonText((await updateWhere(access, call, readTableReference(named), input, set)).body);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/delete_where',
      operationId: 'deleteWhere',
      tag,
      summary: 'Soft-delete all rows that a filter finds',
      example: {
        table_definition_id: 12,
        filterModel: { name: { filterType: 'text', type: 'equals', filter: 'Lost Atlantis' } },
        dry_run: true,
      },
      description:
        'Deletes every live row that `filterModel` finds, all or nothing, up to 100,000 rows. ' +
        countDemand +
        '422 names the rows that others still refer to. `undo` brings the rows back.',
      extension: true,
      requestHeaders: idempotencyHeader,
      resource,
      body: selectionInBody,
      response: deletedWhereSchema,
      handle: async ({ call, body }) => {
        const { filterModel, q, all, expected_count, dry_run, ...named } = body();
        const input = { filterModel, q, all, expected_count, dry_run };
        return new JsonText((await deleteWhere(access, call, readTableReference(named), input)).body);
      },
    }),
    route({
      method: 'POST',
      path: '/table_data/undo',
      operationId: 'undoRequest',
      tag,
      summary: 'Take back what one request wrote',
      example: { table_definition_id: 12, request_id: '0c1f6a52-7f0e-4d0c-8f5e-0d7a4a0a3b11' },
      description:
        'Of any request that wrote rows of this table, up to 100,000: a single write, a batch, update_where, an import, an undo. ' +
        'Rows that it created are deleted, rows that it deleted are restored, and rows that it changed get the values of before, in new versions, all or nothing. ' +
        '422 names rows that have been changed since, and rows that would break a rule of today. 404 when the request wrote no row of this table.',
      extension: true,
      requestHeaders: idempotencyHeader,
      resource,
      body: { ...tableInBody, request_id: requestIdSchema, dry_run: dryRunSchema },
      response: undoneSchema,
      handle: async ({ call, body }) => {
        const { request_id, dry_run, ...named } = body();
        return new JsonText((await undoRequest(access, call, readTableReference(named), { request_id, dry_run })).body);
      },
    }),
  ];
}
