// The shape of a change request in answers.
import { z } from 'zod';
import { branchReferenceSchema } from '../../branches/branch-schema.ts';
import { type HistoryEntry, historyEntrySchema } from '../change-history.ts';
import { changeRequestStates } from './change-request-states.ts';

const tableSchema = z
  .object({
    id: z.int(),
    key: z.string(),
    name: z.string(),
    created: z.int().meta({ description: 'Operations that create rows, or restore them.' }),
    updated: z.int(),
    deleted: z.int(),
    with_problems: z.int(),
  })
  .meta({ id: 'ChangeRequestTable', description: 'A table of a change request, with its operations by kind.' });

const countsSchema = z
  .object({
    operations: z.int(),
    undecided: z.int(),
    accepted: z.int(),
    rejected: z.int(),
    returned: z.int(),
    with_problems: z.int(),
  })
  .meta({ id: 'ChangeRequestCounts' });

const changeRequestShape = {
  id: z.int(),
  branch_id: z.int(),
  branch: branchReferenceSchema,
  title: z.string(),
  description: z.string().nullable(),
  status: z.enum(changeRequestStates),
  created_by: z.int().nullable().meta({ description: 'The user who created it; null for an application.' }),
  application_id: z.int().nullable().meta({ description: 'The application that created it without a user.' }),
  continues_id: z
    .int()
    .nullable()
    .meta({ description: 'The applied change request whose returned operations it began with.' }),
  approved_by: z.int().nullable().meta({ description: 'The user who gave the last approval that was needed.' }),
  applied_by: z.int().nullable(),
  error: z.string().nullable().meta({ description: 'Why it could not be applied, a line for each reason.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  applied_at: z.iso.datetime().nullable(),
  counts: countsSchema.meta({ description: 'Of the whole request, tables that the caller does not see included.' }),
  table_definitions: z
    .array(tableSchema)
    .meta({ description: 'Those that the caller sees: approvers of the branch and the creator see all.' }),
};

export const changeRequestSummarySchema = z.object(changeRequestShape).meta({ id: 'ChangeRequest' });

const policySchema = z
  .object({ required_approvals: z.int(), self_approval: z.boolean(), comment_required: z.boolean() })
  .meta({ id: 'ChangeRequestPolicy', description: 'How it is approved: the strictest policy of its tables.' });

const approvalSchema = z
  .object({
    user_id: z.int(),
    revision: z.string(),
    comment: z.string().nullable(),
    at: z.iso.datetime(),
    is_current: z.boolean().meta({ description: 'It was given under the present revision, and so it counts.' }),
  })
  .meta({ id: 'ChangeRequestApproval' });

export const appliedTableSchema = z
  .object({
    table_definition_id: z.int(),
    key: z.string(),
    created: z.int(),
    updated: z.int(),
    deleted: z.int(),
    restored: z.int(),
  })
  .meta({ id: 'AppliedChanges', description: 'The rows of a table that a change request has written.' });
export type AppliedTable = z.infer<typeof appliedTableSchema>;

export const changeRequestSchema = z
  .object({
    ...changeRequestShape,
    revision: z.string().nullable().meta({
      description:
        'Names what would be applied, rows included: `approve` and `apply` insist on it. Null when it has ended.',
    }),
    policy: policySchema,
    approvals: z.array(approvalSchema),
    applied: z.array(appliedTableSchema).nullable().meta({ description: 'What was written; null until then.' }),
    continued_by_id: z
      .int()
      .nullable()
      .meta({ description: 'The draft that has the operations which were returned when it was applied.' }),
    comments_count: z.int(),
    actions: z.array(historyEntrySchema),
    can: z.array(z.string()).meta({ description: 'The steps that the caller may take now.' }),
    can_not: z
      .record(z.string(), z.string())
      .meta({ description: 'The other steps, each with a sentence that says why not.' }),
  })
  .meta({ id: 'ChangeRequestDetails' });

export const commentSchema = z
  .object({
    id: z.int(),
    operation_id: z.int().nullable().meta({ description: 'Null: about the whole request.' }),
    user_id: z.int().nullable(),
    application_id: z.int().nullable(),
    body: z.string(),
    at: z.iso.datetime(),
  })
  .meta({ id: 'ChangeRequestComment' });
export type Comment = Omit<z.infer<typeof commentSchema>, 'at'> & { at: Date };

// Times are Dates until the answer is written.
type Dated<T> = {
  [K in keyof T]: K extends 'created_at' | 'updated_at' ? Date : K extends 'applied_at' ? Date | null : T[K];
};
export type ChangeRequestSummary = Dated<z.infer<typeof changeRequestSummarySchema>>;
type Details = z.infer<typeof changeRequestSchema>;
export type ChangeRequest = Dated<Omit<Details, 'actions' | 'approvals'>> & {
  actions: HistoryEntry[];
  approvals: (Omit<Details['approvals'][number], 'at'> & { at: Date })[];
};
