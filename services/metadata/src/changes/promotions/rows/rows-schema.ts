// The shapes of the rows of a promotion, and of the decisions on them.
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { exactNumbersQuery, flagText, rowText } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';

const columnName = z.string().max(limits.nameCodePoints);

/** The columns of a primary key with their values. */
export const keySchema = z
  .record(columnName, z.union([z.string(), z.number(), z.boolean()]))
  .refine(
    (key) => Object.keys(key).length <= limits.keyColumnsPerTable,
    rule('too_many', `must name at most ${limits.keyColumnsPerTable} columns`, { maximum: limits.keyColumnsPerTable }),
  );

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
export const rowCountsSchema = z
  .object({
    created: z.int(),
    updated: z.int(),
    deleted: z.int(),
    conflicts: z.int().meta({ description: 'Of cells, and of rows that one side deleted and the other changed.' }),
    rehearsed_at: z.iso.datetime(),
  })
  .meta({ id: 'PromotedRowCounts' });
export type RowCounts = z.infer<typeof rowCountsSchema>;

const window = {
  startRow: rowText.optional().meta({ description: 'The first row, counted from 0; 0 by default.' }),
  endRow: rowText.optional().meta({
    description: `The row after the last one; by default ${limits.perPageDefault} after startRow, at most ${limits.gridRows}.`,
  }),
};

const promotedKind = z.enum(['create', 'update', 'delete']);
const takenDecision = z.enum(['accepted', 'rejected']);
const rowDecision = z.enum(['undecided', 'accepted', 'rejected']);
const cells = z.record(z.string(), z.unknown()).nullable();

const key = z.record(z.string(), z.unknown());
const verdictShape = {
  decision: rowDecision,
  comment: z.string().nullable().meta({ description: 'Why.' }),
  decided_by: z.int().nullable(),
  decided_at: z.iso.datetime().nullable(),
};

const promotedRowSchema = z
  .object({
    id: z.int().meta({ description: 'The `svc_sk` of the row on the target branch; of a new one on the source.' }),
    table_definition_id: z.int().meta({ description: 'The definition on the source branch.' }),
    target_table_definition_id: z.int(),
    kind: promotedKind.meta({ description: 'What the source has done to the row.' }),
    key,
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
    ...verdictShape,
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
        decisions: z.object({ undecided: z.int(), accepted: z.int(), rejected: z.int() }),
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
  decision: rowDecision.optional().meta({ description: 'Rows with this decision alone.' }),
  ...window,
  ...exactNumbersQuery,
};

/** What is decided about some rows. */
const decidingSchema = z
  .strictObject({
    rows: z
      .array(
        z
          .strictObject({ table_definition_id: idSchema, key: keySchema })
          .meta({ id: 'PromotedRowKey', description: 'As the list of rows names it.' }),
      )
      .min(1)
      .max(limits.gridRows)
      .optional()
      .meta({ description: 'These rows; instead of `filter`.' }),
    filter: z
      .strictObject({
        table_definition_id: idSchema.optional(),
        kind: promotedKind.optional(),
        conflict: z.boolean().optional(),
        decision: rowDecision.optional().meta({ description: 'What was decided before.' }),
      })
      .optional()
      .meta({ id: 'PromotedRowFilter', description: 'All rows that match; instead of `rows`.' }),
    decision: z.enum(['accept', 'reject', 'undecided']).meta({
      description: '`reject`: the row stays as the target branch has it; `undecided` takes a decision back.',
    }),
    comment: descriptionSchema.optional().meta({ description: 'Why, for the creator of the promotion.' }),
  })
  .refine(
    ({ rows, filter }) => (rows === undefined) !== (filter === undefined),
    rule('incompatible', 'takes either rows or filter'),
  )
  .meta({ id: 'PromotedRowDecision' });
export type Deciding = z.infer<typeof decidingSchema>;

export const decidingBody = { decisions: z.array(decidingSchema).min(1).max(limits.decisionsPerRequest) };
export const decidedSchema = z.object({
  decided_count: z.int().meta({ description: 'Rows that the decisions name.' }),
});

export const rowDecisionsSchema = z
  .object({
    rows: z.array(
      z
        .object({ table_definition_id: z.int(), key, ...verdictShape, decision: takenDecision })
        .meta({ id: 'PromotedRowVerdict' }),
    ),
    rowCount: z.int().meta({ description: 'All decisions that match.' }),
  })
  .meta({ id: 'PromotedRowVerdictPage' });

export const rowDecisionsQuery = {
  decision: takenDecision.optional().meta({ description: 'These decisions alone.' }),
  ...window,
};
