// The HTTP edge of how far a branch and its parent have diverged.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { readDivergence } from './divergence.ts';

const sideSchema = z
  .object({
    definition: z.boolean().meta({ description: 'Whether the definition has changed, or the table is new.' }),
    rows: z.int().nullable().meta({
      description:
        'The rows that have changed. Null where rows are not compared: the table is not deployed on both branches, has no primary key, or you may not view its rows on both.',
    }),
  })
  .meta({ id: 'TableDivergence' });
const totalSchema = z
  .object({
    tables: z.int().meta({ description: 'The tables whose definition or rows have changed.' }),
    rows: z.int().meta({ description: 'The rows that have changed, of all tables.' }),
  })
  .meta({ id: 'DivergenceTotal' });

const divergenceSchema = z
  .object({
    branch_id: z.int(),
    parent_branch_id: z.int().nullable().meta({ description: 'Null without a parent that you see.' }),
    ahead: totalSchema,
    behind: totalSchema,
    tables: z.array(
      z
        .object({
          table_definition_id: z.int(),
          parent_table_definition_id: z.int().nullable().meta({ description: 'Null: only the branch has the table.' }),
          key: z.string(),
          name: z.string(),
          ahead: sideSchema,
          behind: sideSchema,
        })
        .meta({ id: 'DivergedTable' }),
    ),
  })
  .meta({ id: 'BranchDivergence' });

export const divergenceRoutes = (ctx: MetadataContext): Route[] => [
  route({
    tag: 'Branches',
    resource: 'branch',
    method: 'GET',
    path: '/branches/{id}/divergence',
    operationId: 'getBranchDivergence',
    summary: 'Show how far a branch and its parent have diverged',
    description:
      'By table of the branch: what the branch has changed since both had the same (`ahead`), and what its parent has (`behind`). A promotion brings what is ahead to the parent; what both have changed alike counts for neither. Rows are counted of the first 200 tables by name.',
    extension: true,
    params: { id: idTextSchema },
    response: divergenceSchema,
    handle: async ({ call, params }) => readDivergence(ctx, call, params.id),
  }),
];
