// What answers show of a promotion.
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
import { conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import { promotionStates } from './promotion-states.ts';

/** What a merge of rows has done to a table, or would do. */
export const mergedRowsSchema = z.object({
  table: z.string().meta({ description: 'The key of the table.' }),
  created: z.int(),
  updated: z.int(),
  deleted: z.int(),
});

export type MergedRows = z.infer<typeof mergedRowsSchema>;

const promotionShape = {
  id: z.int(),
  from_branch_id: z.int(),
  to_branch_id: z.int(),
  from_branch: branchReferenceSchema.nullable().meta({ description: 'Null when it has been deleted.' }),
  to_branch: branchReferenceSchema,
  status: z.enum(promotionStates),
  created_by: z.int().nullable(),
  approved_by: z.int().nullable(),
  promoted_by: z.int().nullable(),
  include_data: z.boolean().meta({ description: 'Rows are merged too.' }),
  rows: z.array(mergedRowsSchema).nullable().meta({ description: 'What came of the rows; null until then.' }),
  comment: z.string().nullable(),
  error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  promoted_at: z.iso.datetime().nullable(),
  table_definitions: z.array(
    z.object({
      id: z.int(),
      key: z.string(),
      name: z.string(),
      version: z.int().nullable().meta({ description: 'Null when the definition has been deleted.' }),
      target_table_definition_id: z.int().nullable().meta({ description: 'Null when it is new on the target branch.' }),
      target_version: z.int().nullable(),
    }),
  ),
};

export const promotionSummarySchema = z.object(promotionShape);
export const promotionSchema = z.object({
  ...promotionShape,
  actions: z.array(
    z.object({
      action: z.string(),
      user: z.int().nullable(),
      comment: z.string().nullable(),
      at: z.iso.datetime(),
      request_id: z.string().nullable().meta({
        description:
          'The `X-Request-Id` of the call that did it; of `succeed` and `fail` that of the call that began it, also when another one finished it: histories and the audit log name the same.',
      }),
    }),
  ),
  diffs: z.array(promotionDiffSchema),
  conflicts: z.array(conflictSchema),
  revision: z.string().nullable().meta({
    description: 'Names the state that the diffs were made of; `promote` can insist on it. Null when it has ended.',
  }),
});

type Dated<T> = {
  [K in keyof T]: K extends 'created_at' | 'updated_at' ? Date : K extends 'promoted_at' ? Date | null : T[K];
};
type Shown = z.infer<typeof promotionSchema>;

// Times are Dates until the answer is written.
export type PromotionSummary = Dated<z.infer<typeof promotionSummarySchema>>;
export type Promotion = Dated<Omit<Shown, 'actions'>> & {
  actions: (Omit<Shown['actions'][number], 'at'> & { at: Date })[];
};
