// The outcome of an attempt to apply a change request. The first process to know it stores it;
// storing it again changes nothing.
import type { AppliedChangeRequest__Output } from '@almanac/protos/generated/almanac/data/v1/AppliedChangeRequest.ts';
import type { ChangeRequestProblem__Output } from '@almanac/protos/generated/almanac/data/v1/ChangeRequestProblem.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import { isProblemCode, messagesOf, moreProblems, type Problem } from '@almanac/service-kit/problems';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Transaction, transact } from '../../transaction.ts';
import { findRecipients, type MailFacts, type Recipients, requestMails } from '../approval-mails.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import { changeRequests } from './change-request-kind.ts';
import { operationContents } from './change-request-operations.ts';
import { insertChangeRequest } from './change-request-proposal.ts';
import type { AppliedTable } from './change-request-schema.ts';
import { changeRequestMachine, changeRequestTransitions } from './change-request-states.ts';
import { lockChangeRequest, requireChangeRequest, type StoredChangeRequest } from './change-requests.ts';

/**
 * The input of an attempt, as it is stored. `rest_id`: the id that a draft of the returned
 * operations gets.
 */
export type Input = { revision: string; rest_id: number };
/** `tries`: how often the attempt was resumed without an outcome. */
export type Attempt = { id: number; number: number; input: Input; tries: number };

type Result = AppliedChangeRequest__Output;

/** Stores that data has applied an attempt, and makes a draft of the returned operations. */
export async function finishApplied(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  { tables, left }: Result,
  isResumed: boolean,
): Promise<void> {
  const applied = tables.map(
    ({ table_definition_id, key, created, updated, deleted, restored }): AppliedTable => ({
      ...{ table_definition_id, key, created, updated, deleted, restored },
    }),
  );
  await end(ctx, caller, attempt, 'succeed', isResumed, async (tx, now) => {
    await tx.change_request.update({
      where: { id: now.id },
      data: { applied: applied as unknown as Prisma.InputJsonValue, applied_at: new Date() },
    });
    if (left === 0) return { rows: applied };
    const { branch_id, title, description, created_by, application_id } = now;
    const draft = { branch_id, title, description, created_by, application_id, continues_id: now.id };
    await insertChangeRequest(tx, caller, { id: attempt.input.rest_id, ...draft });
    return { rows: applied, continued_by_id: attempt.input.rest_id };
  });
}

/** Stores that data has refused an attempt, which changed nothing. Answers the 422 with reasons. */
export async function finishRefused(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  result: Result,
  isResumed: boolean,
): Promise<ServiceError> {
  const problems = result.problems.map(problemOf);
  const more = result.problem_count - problems.length;
  const all = [
    ...(problems.length === 0 ? [changedSince] : problems).map(
      (problem): Problem =>
        problem.code === 'outdated'
          ? { ...problem, params: { ...problem.params, revision: result.revision } }
          : problem,
    ),
    ...(more > 0 ? [moreProblems(more)] : []),
  ];
  await end(ctx, caller, attempt, 'refuse', isResumed, async () => ({ reasons: messagesOf(all) }), messagesOf(all));
  return new ServiceError('validation_failed', all);
}

const changedSince: Problem = { code: 'outdated', message: 'Rows have changed since the request was approved.' };

function problemOf({ operation_id, table, code, message, column }: ChangeRequestProblem__Output): Problem {
  return {
    code: isProblemCode(code) ? code : 'invalid',
    message,
    ...(column === '' ? {} : { column }),
    params: { ...(operation_id === 0 ? {} : { operation_id }), ...(table === '' ? {} : { table }) },
  };
}

/** Stores that an attempt failed, and why. */
export async function finishFailed(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  reasons: string[],
  isResumed: boolean,
): Promise<void> {
  await end(ctx, caller, attempt, 'fail', isResumed, async () => ({ reasons }), reasons);
}

type Ending = 'succeed' | 'refuse' | 'fail';

/** `work` runs in the transaction, under the lock on the request. Answers facts for the event. */
async function end(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, number }: Attempt,
  action: Ending,
  isResumed: boolean,
  work: (tx: Transaction, now: StoredChangeRequest) => Promise<Record<string, unknown>>,
  reasons: string[] = [],
): Promise<void> {
  const { branch_id: branchId, created_by: creatorId } = await requireChangeRequest(ctx, caller, id);
  const creator = await findRecipients(ctx, caller, 'decided', { branchId, creatorId });
  const error = reasons.length === 0 ? null : reasons.join('\n');
  await transact(ctx, async (tx) => {
    const now = await lockChangeRequest(tx, caller, id);
    if (now.status !== 'applying' || now.attempt !== number) return;
    const { to: status } = changeRequestTransitions[action];
    const data = { status, error, lease_until: null, was_resumed: isResumed, asked: Prisma.DbNull };
    await tx.change_request.update({
      where: { id },
      data: { ...data, ...(action === 'succeed' ? {} : { applied_by: null }) },
    });
    const facts = await work(tx, now);
    await recordAction(tx, changeRequestMachine, id, action, caller, error);
    await announceChange(tx, caller, changeRequests, now, action, { user_id: caller.userId ?? null, ...facts });
    await mailOutcome(tx, caller, creator, now, action, reasons);
  });
}

// A refusal is the answer of the request itself: a person sees it at once.
async function mailOutcome(
  tx: Transaction,
  caller: RpcCaller,
  creator: Recipients,
  { id, title, branch, tables }: StoredChangeRequest,
  action: Ending,
  reasons: string[],
): Promise<void> {
  if (action === 'refuse') return;
  const facts: MailFacts = {
    noun: 'change_request',
    id,
    branch: branch.name,
    comment: null,
    contents: operationContents(title, tables),
    outcome: action === 'succeed' ? 'applied' : 'failed',
    reasons,
  };
  await requestMails(tx, caller, creator, facts);
}
