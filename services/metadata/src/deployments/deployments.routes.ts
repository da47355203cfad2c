// The HTTP edge of deployments: all of it needs a user and a plan with branching (contract, Deployments).
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/list-query';
import { type Route, route } from '@almanac/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { deploy } from './deployment-apply.ts';
import { tableDiffSchema } from './deployment-diffs.ts';
import { deploymentSchema, deploymentSummarySchema } from './deployment-schema.ts';
import {
  createDeployment,
  deploymentFilters,
  listDeployments,
  rehearseDeployment,
  showDeployment,
  takeStep,
} from './deployments.ts';
import { violationSchema } from './violations.ts';

const params = { id: idTextSchema };
const commented = { comment: descriptionSchema.optional() };
const common = { tag: 'Deployments', resource: 'deployment', user: true, branching: true } as const;
const mostTables = 1000;

export function deploymentRoutes(ctx: Context): Route[] {
  return [...readable(ctx), ...proposing(ctx), ...deciding(ctx)];
}

const readable = (ctx: Context): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/deployments',
    summary: 'List the deployments one may see',
    query: { ...listParameters, branch_id: idTextSchema.optional() },
    response: pageSchema(deploymentSummarySchema),
    // Deployments have no name: a bare word searches the comments.
    handle: async ({ call, query: { branch_id, ...query } }) =>
      listDeployments(ctx, call, readListQuery(query, deploymentFilters, 'comment'), { branch_id }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/deployments/{id}',
    summary: 'Show a deployment with its tables, history and computed diffs',
    params,
    response: deploymentSchema,
    handle: async ({ call, params }) => showDeployment(ctx, call, params.id),
  }),
];

const proposing = (ctx: Context): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/deployments',
    summary: 'Propose definitions of a branch for deployment',
    body: { branch_id: idSchema, table_definition_ids: z.array(idSchema).min(1).max(mostTables) },
    status: 201,
    response: deploymentSchema,
    handle: async ({ call, body }) => {
      const { branch_id, table_definition_ids } = body();
      return createDeployment(ctx, call, branch_id, table_definition_ids);
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/rehearse',
    summary: 'Show what deploying would do now, and everything that stands in its way',
    extension: true,
    params,
    response: z.object({ diffs: z.array(tableDiffSchema), violations: z.array(violationSchema) }),
    handle: async ({ call, params, body }) => {
      const rehearsed = await rehearseDeployment(ctx, call, params.id);
      body();
      return rehearsed;
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/send_request',
    summary: 'Ask the approvers of the branch for approval',
    params,
    body: commented,
    response: deploymentSchema,
    handle: async ({ call, params, body }) => takeStep(ctx, call, params.id, 'send_request', () => body().comment),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/cancel',
    summary: 'Take one’s own deployment back',
    params,
    body: commented,
    response: deploymentSchema,
    handle: async ({ call, params, body }) => takeStep(ctx, call, params.id, 'cancel', () => body().comment),
  }),
];

const deciding = (ctx: Context): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/deploy',
    summary: 'Build the diffs and apply them to the database',
    params,
    response: deploymentSchema,
    handle: async ({ call, params, body }) => deploy(ctx, call, params.id, () => void body()),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/reject',
    summary: 'Reject a deployment',
    params,
    body: commented,
    response: deploymentSchema,
    handle: async ({ call, params, body }) => takeStep(ctx, call, params.id, 'reject', () => body().comment),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/deployments/{id}/abandon',
    summary: 'Give a deployment up; its approvers are told',
    params,
    body: commented,
    response: deploymentSchema,
    handle: async ({ call, params, body }) => takeStep(ctx, call, params.id, 'abandon', () => body().comment),
  }),
];
