// The shape of a promotion in answers.
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
import { allowedShape } from '../../rights/allowed-actions.ts';
import { type HistoryEntry, historyEntrySchema } from '../change-history.ts';
import { conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import { promotionStates } from './promotion-states.ts';
import { mergedRowsSchema, rowCountsSchema } from './rows/rows-schema.ts';

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
  row_counts: rowCountsSchema.nullable().meta({
    description: 'The rows that it would change, as the last rehearsal counted them; null before one.',
  }),
  comment: z.string().nullable(),
  error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  promoted_at: z.iso.datetime().nullable(),
  table_definitions: z.array(
    z
      .object({
        id: z.int(),
        key: z.string(),
        name: z.string(),
        version: z.int().nullable().meta({ description: 'Null when the definition has been deleted.' }),
        target_table_definition_id: z
          .int()
          .nullable()
          .meta({ description: 'Null when it is new on the target branch.' }),
        target_version: z.int().nullable(),
      })
      .meta({ id: 'PromotionTable' }),
  ),
  ...allowedShape,
};

export const promotionSummarySchema = z.object(promotionShape).meta({ id: 'Promotion' });
export const promotionSchema = z
  .object({
    ...promotionShape,
    actions: z.array(historyEntrySchema),
    diffs: z.array(promotionDiffSchema),
    conflicts: z.array(conflictSchema),
    revision: z
      .string()
      .nullable()
      .meta({
        description:
          'Names the state that the diffs were made of, and of the rows that would change; `promote` can insist on it. ' +
          'Null when it has ended, and while the rows can’t be read.',
      }),
  })
  .meta({ id: 'PromotionDetails' });

const present = { description: 'As the promotion shows it now; left out when it can’t be promoted any more.' };

/** The members of a refusal besides the problems. */
export const refusalShape = {
  diffs: z.array(promotionDiffSchema).optional().meta(present),
  conflicts: z.array(conflictSchema).optional().meta(present),
  revision: z
    .string()
    .optional()
    .meta({ description: 'Names what `diffs` and `conflicts` were made of: send it to promote just that.' }),
};

// Times are Dates until the answer is written.
type Dated<T> = {
  [K in keyof T]: K extends 'created_at' | 'updated_at' ? Date : K extends 'promoted_at' ? Date | null : T[K];
};
export type PromotionSummary = Dated<z.infer<typeof promotionSummarySchema>>;
export type Promotion = Dated<Omit<z.infer<typeof promotionSchema>, 'actions'>> & { actions: HistoryEntry[] };
