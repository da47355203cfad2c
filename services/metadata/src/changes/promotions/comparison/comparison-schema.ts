// The differences and conflicts of a promotion, in the shape of answers.
import { z } from 'zod';
import { tableDiffSchema } from '../../table-diff.ts';
import { resolutions } from './table-merge.ts';

export const promotionDiffSchema = z
  .object({
    ...tableDiffSchema.shape,
    table_definition_id: z.int().meta({ description: 'The definition on the source branch.' }),
    target_table_definition_id: z.int().nullable().meta({ description: 'Null when it is new on the target branch.' }),
  })
  .meta({ id: 'PromotionTableDiff' });
export type PromotionDiff = z.infer<typeof promotionDiffSchema>;

export const conflictNameShape = {
  table: z.string().meta({ description: 'The key of the table.' }),
  column: z.string().nullable().meta({ description: 'Null: the attribute is the table’s own.' }),
  attribute: z.string(),
};

export const conflictSchema = z
  .object({
    ...conflictNameShape,
    row: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Of a row (`attribute` value or row): the columns of its primary key.' }),
    base: z.unknown(),
    source: z.unknown(),
    target: z.unknown(),
    resolution: z.enum(resolutions).nullable().meta({ description: 'Null while the conflict is open.' }),
  })
  .meta({ id: 'Conflict' });
