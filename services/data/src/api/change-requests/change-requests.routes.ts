// The routes of the operations of change requests: /change_requests/{id}/… The request itself is
// metadata's.
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, exactNumbersQuery, flagText, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { readTableReference, tableInBody } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { decideOperations } from '../../change-requests/decisions.ts';
import { type ListAccess, listOperations } from '../../change-requests/list-operations.ts';
import { addMatchedOperations } from '../../change-requests/proposing/matched-operations.ts';
import { addOperations, removeOperations } from '../../change-requests/proposing/operations.ts';
import { resolveConflicts } from '../../change-requests/proposing/resolutions.ts';
import type { WriteAccess } from '../../records/idempotency.ts';
import { expectedCount, matchesInBody } from '../row-sets.schemas.ts';
import { idempotencyHeader, recordSchema } from '../table-data.schemas.ts';
import {
  changeRequestId,
  decisionOutcomeSchema,
  operationDecisionSchema,
  operationIdsSchema,
  operationPageSchema,
  operationWindow,
  proposedOperationSchema,
  resolutionsSchema,
  resolvedSchema,
  storedOperationSchema,
} from './change-requests.schemas.ts';

const tag = 'Change requests';

/** The routes of operations, over what they need of a cluster. */
export function changeRequestRoutes(access: WriteAccess & ListAccess): Route[] {
  return [
    route({
      method: 'POST',
      path: '/change_requests/{id}/operations',
      operationId: 'addChangeOperations',
      tag,
      summary: 'Add operations on rows to a change request',
      example: {
        table_definition_id: 12,
        operations: [
          { operation: 'update', id: 7, record: { name: 'Lost continent' }, version: 1 },
          { operation: 'delete', id: 8 },
        ],
      },
      description:
        'Up to 1,000 operations on rows of one table, as `/table_data/batch` takes them, and restorations. Nothing changes in the table. ' +
        'Each operation is checked like one of a batch, and what is wrong with it is kept with it and answered as `problems`. ' +
        'An operation on a row that the request changes already replaces that one; a change of a change adds its columns and keeps what the others are based on. ' +
        'Takes `edit` on the table; for the creator of the request, while it is a draft (422).',
      extension: true,
      requestHeaders: idempotencyHeader,
      params: { id: changeRequestId },
      body: {
        ...tableInBody,
        operations: z.array(proposedOperationSchema).min(1).max(limits.operationsPerBatch),
      },
      status: 201,
      response: z.object({
        operations: z.array(storedOperationSchema).meta({ description: 'In the order of the request.' }),
        message: z.string(),
      }),
      handle: async ({ call, params, body }) => {
        const { operations, ...named } = body();
        const answer = await addOperations(access, call, params.id, readTableReference(named), operations);
        return new JsonText(answer.body);
      },
    }),
    route({
      method: 'POST',
      path: '/change_requests/{id}/operations/where',
      operationId: 'addMatchedOperations',
      tag,
      summary: 'Propose the same for all rows that a filter finds',
      example: {
        table_definition_id: 12,
        filterModel: { alpha2: { filterType: 'text', type: 'equals', filter: 'PL' } },
        operation: 'update',
        set: { name: 'Republic of Poland' },
        expected_count: 1,
      },
      description:
        'Adds an operation on every live row that `filterModel` and `q` find, all or none, up to 100,000: the rows get the values of `set`, or are deleted. ' +
        'Rows that have the values already get none. As for `/table_data/update_where`, `expected_count` is the number of rows that the caller has seen to match. ' +
        'What is wrong with single operations is kept with them; values that break a rule in every row are refused (422). ' +
        'Takes `edit` on the table; for the creator of the request, while it is a draft (422).',
      extension: true,
      requestHeaders: idempotencyHeader,
      params: { id: changeRequestId },
      body: {
        ...matchesInBody,
        operation: z.enum(['update', 'delete']),
        set: recordSchema.optional().meta({ description: 'The values that all rows get, for an update.' }),
        expected_count: expectedCount,
      },
      status: 201,
      response: z
        .object({
          matched: z.int(),
          operation_count: z.int().meta({ description: 'The operations that were added, or replaced one.' }),
          with_problems: z.int(),
          message: z.string(),
        })
        .meta({ id: 'MatchedOperations' }),
      handle: async ({ call, params, body }) => {
        const { filterModel, q, all, operation, set, expected_count, ...named } = body();
        const input = { filterModel, q, all, operation, set, expected_count };
        return new JsonText(
          (await addMatchedOperations(access, call, params.id, readTableReference(named), input)).body,
        );
      },
    }),
    route({
      method: 'GET',
      path: '/change_requests/{id}/operations',
      operationId: 'listChangeOperations',
      tag,
      summary: 'List the operations of a change request',
      description:
        'By window, in the order in which they were added. Its creator and approvers of the branch see all operations, others those on tables whose rows they may view.',
      extension: true,
      requestHeaders: exactNumbersHeader,
      params: { id: changeRequestId },
      query: {
        ...operationWindow,
        has_problem: flagText.optional().meta({ description: 'Operations with problems, or without, alone.' }),
        ...exactNumbersQuery,
      },
      response: operationPageSchema,
      handle: async ({ call, params, query, headers }) => {
        const exactNumbers = readExactNumbers(query, headers);
        return new JsonText(await listOperations(access, call, params.id, { ...query, exactNumbers }));
      },
    }),
    route({
      method: 'POST',
      path: '/change_requests/{id}/operations/remove',
      operationId: 'removeChangeOperations',
      tag,
      summary: 'Take operations out of a change request',
      example: { ids: [3] },
      description:
        'All or none; 404 names the ids that are unknown. For the creator of the request, while it is a draft (422).',
      extension: true,
      params: { id: changeRequestId },
      body: { ids: operationIdsSchema },
      response: z.object({ removed_count: z.int(), message: z.string() }),
      handle: ({ call, params, body }) => removeOperations(access, call, params.id, body().ids),
    }),
    route({
      method: 'POST',
      path: '/change_requests/{id}/decisions',
      operationId: 'decideChangeOperations',
      tag,
      summary: 'Decide operations of a change request',
      example: { decisions: [{ operation_ids: [3], decision: 'reject', comment: 'Already in use elsewhere.' }] },
      description:
        'While the request is under review (422); takes `approve` on its branch. The decisions are made in their order, all or none. ' +
        'Operations that refer to each other are decided together, and `also` names those that went along: with an accepted operation those that it needs, ' +
        'such as the new row that it refers to; with a rejected or returned one those that need it.',
      extension: true,
      user: true,
      params: { id: changeRequestId },
      body: { decisions: z.array(operationDecisionSchema).min(1).max(limits.decisionsPerRequest) },
      response: decisionOutcomeSchema,
      handle: ({ call, params, body }) => decideOperations(access, call, params.id, body().decisions),
    }),
    route({
      method: 'POST',
      path: '/change_requests/{id}/resolutions',
      operationId: 'resolveChangeConflicts',
      tag,
      summary: 'Settle conflicts of a change request',
      example: { resolutions: [{ operation_id: 3, columns: { name: 'mine' } }] },
      description:
        'Where others have changed a row since an operation on it was proposed. All or none; 404 names unknown operations, 422 columns that an operation does not change and values that break a rule. ' +
        'For the creator of the request, while it is a draft (422).',
      extension: true,
      params: { id: changeRequestId },
      body: { resolutions: resolutionsSchema },
      response: resolvedSchema,
      handle: ({ call, params, body }) => resolveConflicts(access, call, params.id, body().resolutions),
    }),
  ];
}
