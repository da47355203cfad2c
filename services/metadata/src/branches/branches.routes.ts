// The HTTP edge of branches.
import { idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { memberSchema, resourceGroupSchema } from '../groups/resource-groups.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import { includeSchema, withAllowed, withAllowedOnPage } from '../rights/allowed-actions.ts';
import { judgeBranches } from './branch-actions.ts';
import { deleteBranch } from './branch-deletion.ts';
import { branchReferenceSchema, branchSchema, branchShape } from './branch-schema.ts';
import {
  branchAttributes,
  branchFilters,
  getBranch,
  listBranches,
  setCurrentBranch,
  showBranch,
  updateBranch,
} from './branches.ts';

const branchDetailsSchema = z
  .object({
    ...branchShape,
    parent: branchReferenceSchema.nullable(),
    owner: memberSchema.nullable(),
    user_groups: z.array(resourceGroupSchema),
    members: z.array(memberSchema),
  })
  .meta({ id: 'BranchDetails' });
const params = { id: idTextSchema };
const common = { tag: 'Branches', resource: 'branch' } as const;

export function branchRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...ofUsers(ctx), ...ofOwners(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/branches',
    summary: 'List branches',
    description: 'The shared branches, and the private ones with a right on them or on one of their tables.',
    query: { ...listParameters, include: includeSchema },
    response: pageSchema(branchSchema),
    handle: async ({ call, query: { include, ...query } }) => {
      const page = await listBranches(ctx, call, readListQuery(query, branchFilters));
      return withAllowedOnPage(include, page, (items) => judgeBranches(ctx, call, items));
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/branches/{id}',
    summary: 'Show a branch with its parent, owner, user groups and members',
    description: 'Members are those of its user groups.',
    params,
    query: { include: includeSchema },
    response: branchDetailsSchema,
    handle: async ({ call, params, query: { include } }) =>
      withAllowed(include, await getBranch(ctx, call, params.id), (items) => judgeBranches(ctx, call, items)),
  }),
];

const ofUsers = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/branches/set_current_branch',
    operationId: 'setCurrentBranch',
    summary: 'Set the branch on which the calling user works',
    description: 'New branches of this user have it as their parent. Operations name their branch themselves.',
    example: { branch_id: 1 },
    user: true,
    body: { branch_id: idSchema },
    response: branchSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body }) => {
      const set = async () => setCurrentBranch(ctx, call, call.userId as number, body().branch_id);
      return idempotent(ctx, call, set, (id) => showBranch(ctx, call, id));
    },
  }),
];

const ofOwners = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'PATCH',
    path: '/branches/{id}',
    summary: 'Change a branch',
    description:
      'To protect it or no longer, or to change its type, takes the right `admin` on it and the scope `api:admin`. Its owner may change its type too. How rows change (`row_changes` and its neighbours) is for those with the right `approve` or `admin` on it; until `row_policy_in_force` is true, the change is being made.',
    example: { branch: { description: 'Codes of the summer catalogue' } },
    params,
    attributes: branchAttributes,
    response: branchSchema,
    handle: async ({ call, params, attributes }) => updateBranch(ctx, call, params.id, attributes),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/branches/{id}',
    summary: 'Delete a branch with its definitions and deployed tables',
    description: '422 for `main`, and while other branches have it as their parent.',
    params,
    status: 204,
    handle: async ({ call, params }) => deleteBranch(ctx, call, params.id),
  }),
];
