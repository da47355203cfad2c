// The HTTP edge of deployments; all of it needs a user and a plan with branching (contract,
// Deployments).

import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { idempotencyKeyHeader, idempotent } from '../../requests/idempotency.ts';
import { includeSchema, withAllowed, withAllowedOnPage } from '../../rights/allowed-actions.ts';
import { type StepWords, stepRoute } from '../change-steps.ts';
import { refuseWithDiffs } from '../refusal.ts';
import { NotReviewed } from '../reviewed-revisions.ts';
import { tableDiffSchema, violationSchema } from '../table-diff.ts';
import { answerDeployed, deploy } from './deployment-apply.ts';
import { createDeployment } from './deployment-proposal.ts';
import { deploymentSchema, deploymentSummarySchema, refusalShape } from './deployment-schema.ts';
import {
  deploymentFilters,
  deployments,
  judgeDeployments,
  listDeployments,
  rehearseDeployment,
  showDeployment,
} from './deployments.ts';

const params = { id: idTextSchema };
const common = { tag: 'Deployments', resource: 'deployment', user: true, branching: true } as const;
const maxTables = 1000;

export function deploymentRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...proposing(ctx), ...deciding(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/deployments',
    summary: 'List the deployments one may see',
    description: 'A bare word in `q` searches the comments.',
    query: {
      ...listParameters,
      include: includeSchema,
      branch_id: idTextSchema.optional().meta({ description: 'Only those of this branch.' }),
    },
    response: pageSchema(deploymentSummarySchema),
    // Deployments have no name: a bare word searches the comments.
    handle: async ({ call, query: { branch_id, include, ...query } }) => {
      const list = readListQuery(query, deploymentFilters, 'comment');
      const page = await listDeployments(ctx, call, list, { branch_id });
      return withAllowedOnPage(include, page, (items) => judgeDeployments(ctx, call, items));
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/deployments/{id}',
    summary: 'Show a deployment with its tables, history and computed diffs',
    description:
      'The diffs are computed at the call, with the statements, the losses and what blocks each table. `revision` names what they were made of.',
    params,
    query: { include: includeSchema },
    response: deploymentSchema,
    handle: async ({ call, params, query: { include } }) =>
      withAllowed(include, await showDeployment(ctx, call, params.id), (items) => judgeDeployments(ctx, call, items)),
  }),
];

const proposing = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/deployments',
    summary: 'Propose definitions of a branch for deployment',
    description:
      'Changes nothing yet: the answer shows what it would do. Then `deploy`, or `send_request` where the branch is protected.',
    example: { branch_id: 1, table_definition_ids: [12] },
    body: {
      branch_id: idSchema,
      table_definition_ids: z
        .array(idSchema)
        .max(maxTables)
        .meta({ description: 'May be empty only when tables are named to be removed.' }),
      remove_table_definition_ids: z.array(idSchema).max(maxTables).optional().meta({
        description:
          'Tables in service on the branch to be removed with their definitions, as by `POST /table_definitions/{id}/remove`, when the deployment is applied.',
      }),
    },
    status: 201,
    response: deploymentSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body }) => {
      const create = async () => {
        const { branch_id, table_definition_ids: ids, remove_table_definition_ids: removed = [] } = body();
        if (ids.length + removed.length === 0)
          throw new ServiceError('bad_request', {
            code: 'too_few',
            message: 'table_definition_ids must have at least 1 item',
            field: 'table_definition_ids',
            params: { minimum: 1 },
          });
        return createDeployment(ctx, call, branch_id, ids, removed);
      };
      return idempotent(ctx, call, create, (id) => showDeployment(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/rehearse',
    summary: 'Show what deploying would do now, and everything that blocks it',
    description: 'Changes nothing, and can be called again and again.',
    extension: true,
    params,
    response: z.object({ diffs: z.array(tableDiffSchema), violations: z.array(violationSchema) }),
    handle: async ({ call, params, body }) => {
      const rehearsed = await rehearseDeployment(ctx, call, params.id);
      body();
      return rehearsed;
    },
  }),
  step(ctx, 'send_request', {
    summary: 'Ask the approvers of the branch for approval',
    description: 'They get a mail with the comment and the diffs.',
  }),
  step(ctx, 'cancel', {
    summary: 'Take one’s own deployment back',
    description: 'Only its creator may, while it is created or requested.',
  }),
];

const deciding = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/deploy',
    operationId: 'deploy',
    summary: 'Build the diffs and apply them to the database',
    description:
      'All tables in one transaction: either all of them are deployed, or none. On a protected branch an approver other than its creator does it.',
    example: {},
    params,
    body: {
      revision: z.string().max(64).optional().meta({
        description:
          'Deploy only what was shown under this revision. Without it, for a deployment of another user on a protected branch: what was shown to the caller last, else what approval was requested for.',
      }),
    },
    response: deploymentSchema,
    refusal: refusalShape,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params: { id }, body }) => {
      const apply = () => deploy(ctx, call, id, body);
      const answer = () => idempotent(ctx, call, apply, (deployed) => answerDeployed(ctx, call, deployed));
      return refuseWithDiffs(answer, isNotReviewed, () => findDiffs(ctx, call, id));
    },
  }),
  step(ctx, 'reject', {
    summary: 'Reject a deployment',
    description: 'For approvers of the branch. The comment says why, and goes to its creator by mail.',
  }),
  step(ctx, 'abandon', {
    summary: 'Abandon a deployment; the approvers of the branch get a mail',
    description: 'Ends a deployment that is created, requested or failed.',
  }),
];

const step = (ctx: MetadataContext, action: string, words: StepWords): Route =>
  stepRoute(ctx, deployments, { ...common, response: deploymentSchema }, action, words);

// Other refusals go without diffs: planning counts rows and may take long.
const isNotReviewed = (error: ServiceError) => error instanceof NotReviewed;

async function findDiffs(ctx: MetadataContext, call: CallContext, id: number): Promise<Record<string, unknown>> {
  const { diffs, revision } = await showDeployment(ctx, call, id);
  return revision === null ? {} : { diffs, revision };
}
