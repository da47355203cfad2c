// What requests for the operations of change requests send and get.
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { rowText } from '@almanac/service-kit/http/row-input';
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';
import { operationSchema, recordIdNumber, recordSchema, rowSchema, versionNumber } from '../table-data.schemas.ts';

const baseVersion = versionNumber.optional().meta({
  description: 'The `svc_version` that the proposal is based on; without it the present one.',
});

const [batchCreate, batchUpdate, batchDelete, batchUpsert] = operationSchema.options;

/** The operations of a batch, with the version that each is based on; and restorations. */
export const proposedOperationSchema = z
  .discriminatedUnion('operation', [
    batchCreate,
    batchUpdate.extend({ version: baseVersion }).meta({ id: 'ProposedUpdate' }),
    batchDelete.extend({ version: baseVersion }).meta({ id: 'ProposedDelete' }),
    batchUpsert,
    z
      .strictObject({ operation: z.literal('restore'), id: recordIdNumber, version: baseVersion })
      .meta({ id: 'ProposedRestore', description: 'Undeletes a row.' }),
  ])
  .meta({ id: 'ProposedOperation' });

export const operationIdSchema = z.int().min(1).meta({ description: 'The id of an operation.' });
export const operationIdsSchema = z.array(operationIdSchema).min(1).max(limits.operationsPerBatch);

export const kindSchema = z.enum(['create', 'update', 'delete', 'restore']);
export const decisionSchema = z.enum(['undecided', 'accepted', 'rejected', 'returned']);

export const operationProblemSchema = z
  .looseObject({
    code: z.string(),
    message: z.string(),
    column: z.string().optional(),
    row: z.int().optional(),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'OperationProblem', description: 'As the `problems` of a refusal (docs/errors.md).' });

export const storedOperationSchema = z
  .object({ id: operationIdSchema, kind: kindSchema, problems: z.array(operationProblemSchema) })
  .meta({ id: 'StoredOperation' });

const values = recordSchema.nullable();

export const changeOperationSchema = z
  .object({
    id: operationIdSchema,
    table_definition_id: z.int(),
    kind: kindSchema,
    key: recordSchema.meta({ description: 'The values of the primary key: of the row, or of the new one.' }),
    svc_sk: z.int().nullable().meta({ description: 'The row; null of one to be created.' }),
    base_version: z.int().nullable().meta({ description: 'The version that the operation is based on.' }),
    base: values.meta({ description: 'The changed columns and the key in that version; null of a row to be created.' }),
    proposed: values.meta({ description: 'The values that are proposed; null when the row is deleted or restored.' }),
    current: rowSchema.nullable().meta({ description: 'The row as it is now.' }),
    changed_columns: z.array(z.string()).meta({ description: 'Those whose proposed value is not the one of `base`.' }),
    conflict: z
      .object({
        row: z.boolean().meta({
          description: 'The row is missing or deleted, or has changed since it was to be deleted or restored.',
        }),
        columns: z.record(
          z.string(),
          z.object({ base: z.unknown(), proposed: z.unknown(), current: z.unknown() }).meta({ id: 'CellConflict' }),
        ),
      })
      .nullable()
      .meta({ id: 'OperationConflict', description: 'What others have changed since; null without a conflict.' }),
    problems: z.array(operationProblemSchema),
    decision: decisionSchema,
    decided_by: z.int().nullable(),
    decided_at: z.iso.datetime().nullable(),
    comment: z.string().nullable(),
  })
  .meta({ id: 'ChangeOperation' });

const countSchema = (names: readonly string[]) => z.object(Object.fromEntries(names.map((name) => [name, z.int()])));

export const operationPageSchema = z
  .object({
    operations: z.array(changeOperationSchema),
    rowCount: z.int().meta({ description: 'All operations that match.' }),
    counts: z
      .object({
        kinds: countSchema(kindSchema.options),
        decisions: countSchema(decisionSchema.options),
        with_problems: z.int(),
      })
      .meta({ description: 'Of all operations on the table, or of the request, that the caller sees.' }),
  })
  .meta({ id: 'ChangeOperationPage' });

export const operationWindow = {
  table_definition_id: idTextSchema.optional().meta({ description: 'Operations on this table alone.' }),
  kind: kindSchema.optional().meta({ description: 'Operations of this kind alone.' }),
  decision: decisionSchema.optional().meta({ description: 'Operations with this decision alone.' }),
  startRow: rowText.optional().meta({ description: 'The first operation, counted from 0; 0 by default.' }),
  endRow: rowText.optional().meta({
    description: `The operation after the last one; by default 100 after startRow, at most ${limits.gridRows}.`,
  }),
};

export const changeRequestId = idTextSchema.meta({ description: 'The id of the change request.' });

/** What is decided about some operations. */
export const operationDecisionSchema = z
  .strictObject({
    operation_ids: operationIdsSchema.optional().meta({ description: 'These operations; instead of `filter`.' }),
    filter: z
      .strictObject({
        table_definition_id: idSchema.optional(),
        kind: kindSchema.optional(),
        decision: decisionSchema.optional().meta({ description: 'What was decided before.' }),
        has_problem: z.boolean().optional(),
      })
      .optional()
      .meta({ id: 'OperationFilter', description: 'All operations that match; instead of `operation_ids`.' }),
    decision: z
      .enum(['accept', 'reject', 'return', 'undecided'])
      .meta({ description: '`return`: for the creator to work on; `undecided` takes a decision back.' }),
    comment: descriptionSchema.optional().meta({ description: 'Why, for the creator of the request.' }),
  })
  .meta({ id: 'OperationDecision' });

export const decisionOutcomeSchema = z
  .object({
    decided_count: z.int().meta({ description: 'Operations that the decisions name.' }),
    also: z
      .array(z.object({ operation_id: operationIdSchema, because_of: operationIdSchema }).meta({ id: 'TiedOperation' }))
      .meta({ description: `Operations that went along, with what took them along; at most ${limits.gridRows}.` }),
    also_count: z.int().meta({ description: 'All operations that went along.' }),
    decisions: countSchema(decisionSchema.options).meta({ description: 'How the operations are decided now.' }),
  })
  .meta({ id: 'DecisionOutcome' });

const resolutionSchema = z
  .strictObject({
    operation_id: operationIdSchema,
    row: z.enum(['mine', 'theirs']).optional().meta({
      description: 'When the row as a whole conflicts: `mine` keeps the operation, `theirs` takes it out.',
    }),
    columns: z
      .record(
        z.string(),
        z.union([z.enum(['mine', 'theirs']), z.strictObject({ value: z.unknown() }).meta({ id: 'ResolvedValue' })]),
      )
      .optional()
      .meta({
        description: 'Column to `mine`, what is proposed; `theirs`, what the row has now; or `{value}`, another value.',
      }),
  })
  .meta({ id: 'OperationResolution' });
export const resolutionsSchema = z.array(resolutionSchema).min(1).max(limits.operationsPerBatch);
export const resolvedSchema = z.object({
  operations: z
    .array(
      z.object({ id: operationIdSchema, problems: z.array(operationProblemSchema) }).meta({ id: 'ResolvedOperation' }),
    )
    .meta({ description: 'The operations that are left, with the problems that they still have.' }),
});
