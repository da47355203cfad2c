// The HTTP edge of creating branches, with copies of tables or without.
import { idSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { branchShape } from '../branches/branch-schema.ts';
import { newBranchAttributes } from '../branches/branches.ts';
import type { MetadataContext } from '../context.ts';
import { idempotencyKeyHeader, idempotent } from '../requests/idempotency.ts';
import { createFilledBranch, showFilledBranch } from './branch-copies.ts';

const copySchema = z
  .strictObject({
    table_definition_ids: z.array(idSchema).min(1).max(limits.tablesPerCopy),
    with_referenced: z.boolean().optional().meta({ description: 'Copy the tables that they refer to, too.' }),
    include_data: z.boolean().optional().meta({
      description: 'The copies begin with the rows of the originals. Takes `view` on each.',
    }),
    deploy: z.boolean().optional().meta({ description: 'Deploy the copies at once. Not on a protected branch.' }),
  })
  .meta({ id: 'BranchCopy', description: 'Tables to copy to the new branch, at once with it or not at all.' });

const copiedSchema = z
  .object({
    table_definitions: z.array(
      z
        .object({ id: z.int(), key: z.string(), name: z.string(), cloned_from_id: z.int().nullable() })
        .meta({ id: 'CopiedTable' }),
    ),
    deployment: z
      .object({ id: z.int(), status: z.string(), error: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null unless `deploy` was given. One that failed leaves the branch and the drafts.' }),
  })
  .meta({ id: 'CopiedTables' });

const createdSchema = z
  .object({
    ...branchShape,
    copied: copiedSchema.optional().meta({ description: 'Extension: what came of `copy`, when that was given.' }),
  })
  .meta({ id: 'CreatedBranch' });

export const branchCopyRoutes = (ctx: MetadataContext): Route[] => [
  route({
    tag: 'Branches',
    resource: 'branch',
    method: 'POST',
    path: '/branches',
    summary: 'Create a branch',
    description:
      'Its parent is `parent_branch_id`, else the current branch of the user, else `main`. It begins without tables: clone them into it, or name them in `copy`.',
    example: { branch: { name: 'Summer changes', description: 'Codes of the summer catalogue' } },
    user: true,
    branching: true,
    body: { copy: copySchema.optional() },
    attributes: newBranchAttributes,
    status: 201,
    response: createdSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body, attributes }) => {
      const create = () => createFilledBranch(ctx, call, () => body().copy, attributes);
      return idempotent(ctx, call, create, (id) => showFilledBranch(ctx, call, body().copy, id));
    },
  }),
];
