// The HTTP edge of promotions; all of it needs a user and a plan with branching (contract,
// Promotions).
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { exactNumbersHeader, readExactNumbers } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { idempotencyKeyHeader, idempotent } from '../../requests/idempotency.ts';
import { includeSchema, withAllowed, withAllowedOnPage } from '../../rights/allowed-actions.ts';
import { isOpen } from '../approval-states.ts';
import { type StepWords, stepRoute } from '../change-steps.ts';
import { refuseWithDiffs } from '../refusal.ts';
import { violationSchema } from '../table-diff.ts';
import { conflictNameShape, conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import { resolutions } from './comparison/table-merge.ts';
import { answerPromoted, promote } from './promote.ts';
import { decidePromotedRows, listDecisions, listPromotedRows } from './promoted-rows.ts';
import { createPromotion } from './promotion-proposal.ts';
import { rehearsePromotion } from './promotion-rehearsal.ts';
import { judgePromotions } from './promotion-rights.ts';
import { promotionSchema, promotionSummarySchema, refusalShape } from './promotion-schema.ts';
import { promotionMachine } from './promotion-states.ts';
import { listPromotions, promotionFilters, promotions, showPromotion } from './promotions.ts';
import {
  decidedSchema,
  decidingBody,
  keySchema,
  mergedRowsSchema,
  promotedRowsQuery,
  promotedRowsSchema,
  rowDecisionsQuery,
  rowDecisionsSchema,
} from './rows/rows-schema.ts';

const params = { id: idTextSchema };
const common = { tag: 'Promotions', resource: 'promotion', user: true, branching: true } as const;
const maxTables = 1000;
const maxResolutions = 10_000;

const name = z.string().max(limits.nameCodePoints);
const rowKey = keySchema.optional().meta({
  description:
    'Of rows (`attribute` value or row): the columns of the primary key; without it the resolution is for all rows, and for all their cells when `column` is null.',
});

// As answers show it; no table or column has a longer name.
const namingConflict = {
  table: name.meta({ description: conflictNameShape.table.description }),
  column: name.nullable().meta({ description: conflictNameShape.column.description }),
  attribute: name,
};

const resolving = {
  resolutions: z
    .array(
      z
        .strictObject({ ...namingConflict, row: rowKey, resolution: z.enum(resolutions) })
        .meta({ id: 'ConflictResolution' }),
    )
    .max(maxResolutions)
    .optional()
    .meta({ description: 'Which side each conflict is decided for.' }),
};

export function promotionRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...rowsOf(ctx), ...proposing(ctx), ...deciding(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/promotions',
    summary: 'List the promotions one may see',
    description: 'A bare word in `q` searches the comments.',
    query: {
      ...listParameters,
      include: includeSchema,
      from_branch_id: idTextSchema.optional().meta({ description: 'Only those from this branch.' }),
      to_branch_id: idTextSchema.optional().meta({ description: 'Only those to this branch.' }),
    },
    response: pageSchema(promotionSummarySchema),
    // Promotions have no name: a bare word searches the comments.
    handle: async ({ call, query: { from_branch_id, to_branch_id, include, ...query } }) => {
      const list = readListQuery(query, promotionFilters, 'comment');
      const page = await listPromotions(ctx, call, list, { from_branch_id, to_branch_id });
      return withAllowedOnPage(include, page, (items) => judgePromotions(ctx, call, items));
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/promotions/{id}',
    summary: 'Show a promotion with its tables, history, computed diffs and conflicts',
    description:
      'The diffs are computed at the call: three ways, between the version that both branches had in common, the source and the target.',
    params,
    query: { include: includeSchema },
    response: promotionSchema,
    handle: async ({ call, params, query: { include } }) =>
      withAllowed(include, await showPromotion(ctx, call, params.id), (items) => judgePromotions(ctx, call, items)),
  }),
];

const rowsOf = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/promotions/{id}/rows',
    operationId: 'listPromotedRows',
    summary: 'List the rows that a promotion would change',
    description:
      'By window, table by table and by key, of a promotion with `include_data` that has not ended (422). They are computed at the call as `promote` does it, ' +
      'and rows with a conflict are among them. For approvers of the target branch, and for others those of tables whose rows they may view on both branches.',
    extension: true,
    requestHeaders: exactNumbersHeader,
    params,
    query: promotedRowsQuery,
    response: promotedRowsSchema,
    handle: async ({ call, params, query: { exact_numbers, ...query }, headers }) => {
      const exactNumbers = readExactNumbers({ exact_numbers }, headers);
      return new JsonText(await listPromotedRows(ctx, call, params.id, { ...query, exactNumbers }));
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/promotions/{id}/decisions',
    operationId: 'decidePromotedRows',
    summary: 'Decide rows of a promotion',
    description:
      'For those who may promote it, until it has ended (422). The decisions are made in their order, all or none; 404 names a row that it would not change. ' +
      '`promote` merges every row that is not rejected. A rejected row stays as the target branch has it, and its conflicts need no resolution. It keeps its values on the source branch, ' +
      'and is proposed again, as a conflict, once it changes there. `revision` changes with the rows that are rejected.',
    example: { decisions: [{ filter: { kind: 'update' }, decision: 'reject', comment: 'Not published yet.' }] },
    extension: true,
    params,
    body: decidingBody,
    response: decidedSchema,
    handle: ({ call, params, body }) => decidePromotedRows(ctx, call, params.id, () => body().decisions),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/promotions/{id}/decisions',
    operationId: 'listRowDecisions',
    summary: 'List the decisions on the rows of a promotion',
    description:
      'By table and key, also after it has ended. Approvers of the target branch see all; others those on tables whose rows they may view on both branches.',
    extension: true,
    params,
    query: rowDecisionsQuery,
    response: rowDecisionsSchema,
    handle: async ({ call, params, query }) => new JsonText(await listDecisions(ctx, call, params.id, query)),
  }),
];

const proposing = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/promotions',
    summary: 'Propose to merge definitions of one branch into another',
    description: 'Changes nothing yet. On a protected target branch another person promotes it.',
    example: { from_branch_id: 2, to_branch_id: 1, table_definition_ids: [12] },
    body: {
      from_branch_id: idSchema,
      to_branch_id: idSchema,
      table_definition_ids: z.array(idSchema).min(1).max(maxTables),
      include_data: z.boolean().optional().meta({ description: 'Merge the rows too; false by default.' }),
    },
    status: 201,
    response: promotionSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body }) => {
      const create = async () => {
        const { table_definition_ids, include_data = false, ...branches } = body();
        return createPromotion(ctx, call, branches, { tableIds: table_definition_ids, includeData: include_data });
      };
      return idempotent(ctx, call, create, (id) => showPromotion(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/promotions/{id}/rehearse',
    summary: 'Promote without keeping it: diffs, conflicts, and what would block deploying the outcome',
    description: 'Changes nothing, and can be called again and again with other resolutions.',
    example: { resolutions: [] },
    extension: true,
    params,
    body: resolving,
    response: z.object({
      diffs: z.array(promotionDiffSchema),
      conflicts: z.array(conflictSchema).meta({ description: 'All of definitions, the first 1,000 of rows.' }),
      conflict_count: z.int(),
      violations: z.array(violationSchema),
      warnings: z.array(violationSchema).meta({ description: 'What of the rows can’t travel yet.' }),
      rows: z.array(mergedRowsSchema).meta({ description: 'What merging the rows would do.' }),
      row_counts: promotionSummarySchema.shape.row_counts,
      revision: z
        .string()
        .meta({ description: 'Names what was rehearsed, rows included: `promote` can insist on it.' }),
    }),
    handle: async ({ call, params, body }) => rehearsePromotion(ctx, call, params.id, () => body().resolutions ?? []),
  }),
  step(ctx, 'send_request', {
    summary: 'Ask the approvers of the target branch for approval',
    description: 'They get a mail with the comment and the diffs.',
  }),
  step(ctx, 'cancel', {
    summary: 'Take one’s own promotion back',
    description: 'Only its creator may, while it is created or requested.',
  }),
];

const deciding = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/promotions/{id}/promote',
    operationId: 'promote',
    summary: 'Merge the definitions into the target branch, where they then need a deployment',
    description: '422 while a conflict has no resolution; nothing is merged then.',
    example: { resolutions: [] },
    params,
    body: {
      ...resolving,
      revision: z.string().max(64).optional().meta({
        description:
          'Promote only what was shown under this revision, rows included; else the definitions that were shown last, with the rows as they are.',
      }),
    },
    response: promotionSchema,
    refusal: refusalShape,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params: { id }, body }) => {
      const merge = () => promote(ctx, call, id, body);
      const answer = () => idempotent(ctx, call, merge, (promoted) => answerPromoted(ctx, call, promoted));
      return refuseWithDiffs(
        answer,
        ({ status }) => status === 422,
        () => findDiffs(ctx, call, id),
      );
    },
  }),
  step(ctx, 'reject', {
    summary: 'Reject a promotion',
    description: 'For approvers of the target branch. The comment says why, and goes to its creator by mail.',
  }),
  step(ctx, 'abandon', {
    summary: 'Abandon a promotion; the approvers of the target branch get a mail',
    description: 'Ends a promotion that is created, requested or failed.',
  }),
];

const step = (ctx: MetadataContext, action: string, words: StepWords): Route =>
  stepRoute(ctx, promotions, { ...common, response: promotionSchema }, action, words);

// A table may have moved to where the caller sees nothing: the refusal then has the problems alone.
async function findDiffs(ctx: MetadataContext, call: CallContext, id: number): Promise<Record<string, unknown>> {
  try {
    const { status, diffs, conflicts, revision } = await showPromotion(ctx, call, id);
    if (!isOpen(promotionMachine, status)) return {};
    return { diffs, conflicts, ...(revision === null ? {} : { revision }) };
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return {};
    throw error;
  }
}
