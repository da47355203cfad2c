// The HTTP edge of promotions: all of it needs a user and a plan with branching (contract, Promotions).
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { idempotencyKeyHeader, idempotent } from '../../requests/idempotency.ts';
import { violationSchema } from '../table-diff.ts';
import { conflictNameShape, conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import { resolutions } from './comparison/table-merge.ts';
import { answerOwnPromotion, promote } from './promote.ts';
import { createPromotion } from './promotion-proposal.ts';
import { refusalShape, refusingWithDiffs } from './promotion-refusal.ts';
import { rehearsePromotion } from './promotion-rehearsal.ts';
import { mergedRowsSchema, promotionSchema, promotionSummarySchema } from './promotion-schema.ts';
import { listPromotions, promotionFilters, type Step, showPromotion, takeStep } from './promotions.ts';

const params = { id: idTextSchema };
const commented = { comment: descriptionSchema.optional() };
const common = { tag: 'Promotions', resource: 'promotion', user: true, branching: true } as const;
const maxTables = 1000;
const maxResolutions = 10_000;

const name = z.string().max(limits.nameCodePoints);
const rowKey = z
  .record(name, z.union([z.string(), z.number(), z.boolean()]))
  .refine((key) => Object.keys(key).length <= limits.keyColumnsPerTable, {
    message: `must name at most ${limits.keyColumnsPerTable} columns`,
  })
  .optional()
  .meta({
    description:
      'Of rows (`attribute` value or row): the columns of the primary key; without it the resolution is for all rows, and for all their cells when `column` is null.',
  });

// As answers show it; longer names are those of nothing.
const namingConflict = {
  table: name.meta({ description: conflictNameShape.table.description }),
  column: name.nullable().meta({ description: conflictNameShape.column.description }),
  attribute: name,
};

const resolving = {
  resolutions: z
    .array(z.strictObject({ ...namingConflict, row: rowKey, resolution: z.enum(resolutions) }))
    .max(maxResolutions)
    .optional()
    .meta({ description: 'Which side each conflict is decided for.' }),
};

export function promotionRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...proposing(ctx), ...deciding(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/promotions',
    summary: 'List the promotions one may see',
    query: { ...listParameters, from_branch_id: idTextSchema.optional(), to_branch_id: idTextSchema.optional() },
    response: pageSchema(promotionSummarySchema),
    // Promotions have no name: a bare word searches the comments.
    handle: async ({ call, query: { from_branch_id, to_branch_id, ...query } }) =>
      listPromotions(ctx, call, readListQuery(query, promotionFilters, 'comment'), { from_branch_id, to_branch_id }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/promotions/{id}',
    summary: 'Show a promotion with its tables, history, computed diffs and conflicts',
    params,
    response: promotionSchema,
    handle: async ({ call, params }) => showPromotion(ctx, call, params.id),
  }),
];

const proposing = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/promotions',
    summary: 'Propose to merge definitions of one branch into another',
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
    summary: 'Promote without keeping it: diffs, conflicts, and what would stand in the way of deploying the outcome',
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
    }),
    handle: async ({ call, params, body }) => rehearsePromotion(ctx, call, params.id, () => body().resolutions ?? []),
  }),
  stepRoute(ctx, 'send_request', 'Ask the approvers of the target branch for approval'),
  stepRoute(ctx, 'cancel', 'Take one’s own promotion back'),
];

const deciding = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/promotions/{id}/promote',
    summary: 'Merge the definitions into the target branch, where they then need a deployment',
    example: { resolutions: [] },
    params,
    body: {
      ...resolving,
      revision: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'Promote only what was shown under this revision; else what was shown last.' }),
    },
    response: promotionSchema,
    refusal: refusalShape,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, body }) => {
      const merge = () => promote(ctx, call, params.id, body);
      const answer = () => idempotent(ctx, call, merge, (id) => answerOwnPromotion(ctx, call, id));
      return refusingWithDiffs(ctx, call, params.id, answer);
    },
  }),
  stepRoute(ctx, 'reject', 'Reject a promotion'),
  stepRoute(ctx, 'abandon', 'Give a promotion up; the approvers of the target branch are told'),
];

const stepRoute = (ctx: MetadataContext, action: Step, summary: string): Route =>
  route({
    ...common,
    method: 'POST',
    path: `/promotions/{id}/${action}`,
    summary,
    example: { comment: 'Codes of the summer catalogue' },
    params,
    body: commented,
    requestHeaders: idempotencyKeyHeader,
    response: promotionSchema,
    handle: async ({ call, params, body }) => {
      const step = () => takeStep(ctx, call, params.id, action, () => body().comment);
      return idempotent(ctx, call, step, (id) => showPromotion(ctx, call, id));
    },
  });
