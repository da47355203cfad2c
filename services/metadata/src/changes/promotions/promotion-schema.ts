// The shape of a promotion in answers.
import { idTextSchema } from '@almanac/service-kit/api/input';
import { exactNumbersQuery, flagText, rowText } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
import { allowedShape } from '../../rights/allowed-actions.ts';
import { type HistoryEntry, historyEntrySchema } from '../change-history.ts';
import { conflictSchema, promotionDiffSchema } from './comparison/comparison-schema.ts';
import { promotionStates } from './promotion-states.ts';

/** What merging rows did to a table, or would do. */
export const mergedRowsSchema = z
  .object({
    table: z.string().meta({ description: 'The key of the table.' }),
    created: z.int(),
    updated: z.int(),
    deleted: z.int(),
  })
  .meta({ id: 'MergedRows' });

export type MergedRows = z.infer<typeof mergedRowsSchema>;

/** How many rows a promotion would change, before conflicts are decided. */
const rowCountsSchema = z
  .object({
    created: z.int(),
    updated: z.int(),
    deleted: z.int(),
    conflicts: z.int().meta({ description: 'Of cells, and of rows that one side deleted and the other changed.' }),
    rehearsed_at: z.iso.datetime(),
  })
  .meta({ id: 'PromotedRowCounts' });
export type RowCounts = z.infer<typeof rowCountsSchema>;

const promotedKind = z.enum(['create', 'update', 'delete']);
const cells = z.record(z.string(), z.unknown()).nullable();

const promotedRowSchema = z
  .object({
    id: z.int().meta({ description: 'The `svc_sk` of the row on the target branch; of a new one on the source.' }),
    table_definition_id: z.int().meta({ description: 'The definition on the source branch.' }),
    target_table_definition_id: z.int(),
    kind: promotedKind.meta({ description: 'What the source has done to the row.' }),
    key: z.record(z.string(), z.unknown()),
    base: cells.meta({ description: 'What both branches had in common; null when they had no such row.' }),
    source: cells.meta({
      description: 'The columns that both branches have, as values of the target; null of a row that was deleted.',
    }),
    target: cells.meta({ description: 'The row as it is on the target; null when there is none.' }),
    changed_columns: z.array(z.string()).meta({
      description: 'Those that the source has changed; of a new row those with a value.',
    }),
    conflict: z
      .object({
        row: z.boolean().meta({ description: 'One side deleted the row, the other changed it.' }),
        columns: z.array(z.string()).meta({ description: 'Those that both sides have changed differently.' }),
      })
      .nullable()
      .meta({ id: 'PromotedRowConflict' }),
  })
  .meta({ id: 'PromotedRow' });

export const promotedRowsSchema = z
  .object({
    rows: z.array(promotedRowSchema),
    rowCount: z.int().meta({ description: 'All rows that match.' }),
    counts: z
      .object({
        kinds: z.object({ create: z.int(), update: z.int(), delete: z.int() }),
        with_conflict: z.int(),
      })
      .meta({ description: 'Of all rows of the table, or of the promotion, that the caller sees.' }),
  })
  .meta({ id: 'PromotedRowPage' });

export const promotedRowsQuery = {
  table_definition_id: idTextSchema
    .optional()
    .meta({ description: 'Rows of this table alone: the definition on the source branch.' }),
  kind: promotedKind.optional().meta({ description: 'Rows of this kind alone.' }),
  conflict: flagText.optional().meta({ description: 'Rows with a conflict, or without, alone.' }),
  startRow: rowText.optional().meta({ description: 'The first row, counted from 0; 0 by default.' }),
  endRow: rowText.optional().meta({
    description: `The row after the last one; by default ${limits.perPageDefault} after startRow, at most ${limits.gridRows}.`,
  }),
  ...exactNumbersQuery,
};

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
