// The HTTP edge of change requests, an extension to the contract. Applications may propose; people
// decide.
import { descriptionSchema, idSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { listParameters, pageSchema, readListQuery } from '@almanac/service-kit/api/list-query';
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { atMost, rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { idempotencyKeyHeader, idempotent } from '../../requests/idempotency.ts';
import { optionalComment, type StepWords, stepRoute } from '../change-steps.ts';
import { answerApplied, apply } from './change-request-apply.ts';
import { approve } from './change-request-approval.ts';
import { createComment, listComments, showComment } from './change-request-comments.ts';
import { changeRequests } from './change-request-kind.ts';
import {
  changeRequestAttributes,
  createChangeRequest,
  newChangeRequestAttributes,
  updateChangeRequest,
} from './change-request-proposal.ts';
import { changeRequestSchema, changeRequestSummarySchema, commentSchema } from './change-request-schema.ts';
import { changeRequestStates } from './change-request-states.ts';
import { changeRequestFilters, listChangeRequests, showChangeRequest } from './change-requests.ts';

const params = { id: idTextSchema };
const common = { tag: 'Change requests', resource: 'change_request', extension: true } as const;

const text = z
  .string()
  .refine((given) => given.trim() !== '', rule('blank', "can't be blank"))
  .refine((given) => [...given].length <= limits.descriptionCodePoints, atMost(limits.descriptionCodePoints))
  .meta({ minLength: 1, maxLength: limits.descriptionCodePoints });
const reason = text.meta({ description: 'Why; its creator gets it by mail.' });

const approval = {
  revision: z.string().min(1).max(64).meta({ description: 'The `revision` of the request as it was shown.' }),
  comment: descriptionSchema.optional(),
};

export function changeRequestRoutes(ctx: MetadataContext): Route[] {
  return [...readable(ctx), ...proposing(ctx), ...deciding(ctx), ...commenting(ctx)];
}

const readable = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/change_requests',
    summary: 'List the change requests one may see',
    description:
      'One’s own, those with a table whose rows one sees, and those of branches where one approves. A bare word in `q` searches the titles. The tables of a draft are those at its last reading.',
    query: {
      ...listParameters,
      branch_id: idTextSchema.optional().meta({ description: 'Only those on this branch.' }),
      status: z.enum(changeRequestStates).optional().meta({ description: 'Only those in this state.' }),
      created_by: idTextSchema.optional().meta({ description: 'Only those of this user.' }),
      table_definition_id: idTextSchema.optional().meta({ description: 'Only those that concern this table.' }),
    },
    response: pageSchema(changeRequestSummarySchema),
    handle: async ({ call, query: { branch_id, status, created_by, table_definition_id, ...query } }) => {
      const list = readListQuery(query, changeRequestFilters, 'title');
      return listChangeRequests(ctx, call, list, { branch_id, status, created_by, table_definition_id });
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/change_requests/{id}',
    summary: 'Show a change request with its tables, counts, approvals, policy and history',
    description:
      'Its operations are read by `GET /change_requests/{id}/operations`. `revision` names what would be applied now, rows included.',
    params,
    response: changeRequestSchema,
    handle: async ({ call, params }) => showChangeRequest(ctx, call, params.id),
  }),
];

const proposing = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/change_requests',
    summary: 'Create an empty change request on a branch',
    description:
      'Add operations by `POST /change_requests/{id}/operations`, then `send_request`. It takes the right to edit rows of some table of the branch.',
    example: {
      branch_id: 1,
      change_request: { title: 'Monthly correction of subdivisions', description: 'As published in November' },
    },
    body: { branch_id: idSchema },
    attributes: newChangeRequestAttributes,
    status: 201,
    response: changeRequestSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, body, attributes }) => {
      const create = async () => createChangeRequest(ctx, call, body().branch_id, attributes);
      return idempotent(ctx, call, create, (id) => showChangeRequest(ctx, call, id));
    },
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/change_requests/{id}',
    summary: 'Change title and description',
    description: 'Only its creator may, while it is draft or changes_requested.',
    example: { change_request: { description: 'As published in December' } },
    params,
    attributes: changeRequestAttributes,
    response: changeRequestSchema,
    handle: async ({ call, params, attributes }) => updateChangeRequest(ctx, call, params.id, attributes),
  }),
  step(ctx, 'send_request', {
    summary: 'Ask the approvers of the branch for approval',
    description:
      'They get a mail with the comment and the numbers of operations. 422 while the request is empty, or its operations have problems. Its operations can’t be changed any more until it is withdrawn or changes are requested.',
  }),
  step(ctx, 'withdraw', {
    summary: 'Make a draft again of a request that was sent',
    description: 'Only its creator may, while it is requested or approved. Its approvals are deleted.',
  }),
  step(ctx, 'cancel', {
    summary: 'Cancel a change request for good',
    description: 'For its creator and administrators, until it is applied or rejected.',
  }),
];

const deciding = (ctx: MetadataContext): Route[] => [
  step(
    ctx,
    'request_changes',
    {
      operationId: 'requestChanges',
      summary: 'Give a request back to its creator, who may change its operations and send it again',
      description: 'For approvers of the branch. Its approvals are deleted.',
    },
    reason,
  ),
  step(
    ctx,
    'reject',
    { summary: 'Reject a change request for good', description: 'For approvers of the branch.' },
    reason,
  ),
  route({
    ...common,
    user: true,
    method: 'POST',
    path: '/change_requests/{id}/approve',
    operationId: 'approveChangeRequest',
    summary: 'Approve what was shown under a revision',
    description:
      'For approvers of the branch other than its creator, unless the policy allows self-approval. With as many approvals of the revision as the policy wants, it is approved, and undecided operations become accepted. 422 with the code `outdated` when operations, decisions or rows have changed since.',
    example: { revision: 'vN1nAIvFSpMU7EcZ', comment: 'As published' },
    params,
    body: approval,
    response: changeRequestSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params: { id }, body }) => {
      const give = () => approve(ctx, call, id, body);
      return idempotent(ctx, call, give, (approved) => showChangeRequest(ctx, call, approved));
    },
  }),
  route({
    ...common,
    user: true,
    method: 'POST',
    path: '/change_requests/{id}/apply',
    operationId: 'applyChangeRequest',
    summary: 'Apply the accepted operations in one transaction',
    description:
      'For approvers of the branch and its creator, once it is approved; an approver whose approval is the last one needed may apply a requested one, which approves it too. 422 with a problem for each operation when rows have changed or rules are broken: nothing is applied then, and it stays approved. Returned operations become a new draft of its creator.',
    example: { revision: 'vN1nAIvFSpMU7EcZ' },
    params,
    body: approval,
    response: changeRequestSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params: { id }, body }) => {
      const run = () => apply(ctx, call, id, body);
      return idempotent(ctx, call, run, (applied) => answerApplied(ctx, call, applied));
    },
  }),
];

const { page, per_page } = listParameters;

const commenting = (ctx: MetadataContext): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: '/change_requests/{id}/comments',
    summary: 'List the comments on a change request, oldest first',
    description: 'Those on operations are shown to callers who see all of its tables.',
    params,
    query: {
      page,
      per_page,
      operation_id: operationIdText().optional().meta({ description: 'Only those on this operation.' }),
    },
    response: pageSchema(commentSchema),
    handle: async ({ call, params, query: { operation_id, ...query } }) =>
      listComments(ctx, call, params.id, readListQuery(query, {}), operation_id),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/change_requests/{id}/comments',
    summary: 'Comment on a change request, or on one of its operations',
    description: `For everybody who sees it, in any state; at most ${limits.commentsPerChangeRequest} comments.`,
    example: { body: 'Is this code still in use?' },
    params,
    body: {
      body: text,
      operation_id: z
        .number()
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .nullable()
        .optional()
        .meta({ description: 'The operation it is about; without it the whole request.' }),
    },
    status: 201,
    response: commentSchema,
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params: { id }, body }) => {
      const create = () => createComment(ctx, call, id, body);
      return idempotent(ctx, call, create, (commentId) => showComment(ctx, call, id, commentId));
    },
  }),
];

function operationIdText() {
  return z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
    .transform(Number)
    .meta({ type: 'integer', minimum: 1 });
}

type ProposingStep = 'send_request' | 'withdraw' | 'cancel';

// Applications take the steps of a proposal, people those of a decision.
function step(
  ctx: MetadataContext,
  action: ProposingStep | 'request_changes' | 'reject',
  words: StepWords,
  comment: z.ZodType<string | null | undefined> = optionalComment,
): Route {
  const { tag, extension } = common;
  const person = action === 'request_changes' || action === 'reject' ? ({ user: true } as const) : {};
  return stepRoute(
    ctx,
    changeRequests,
    { tag, extension, ...person, response: changeRequestSchema },
    action,
    words,
    comment,
  );
}
