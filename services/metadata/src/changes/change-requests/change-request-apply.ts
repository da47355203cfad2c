// Applying a change request. An attempt is stored first (`applying`, with the approved revision),
// then data applies it under an id of its own, then the outcome is stored. After a crash any
// process may resume the attempt: data applies the same id only once.
import type { AppliedChangeRequest__Output } from '@almanac/protos/generated/almanac/data/v1/AppliedChangeRequest.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../../requests/idempotency.ts';
import type { Transaction } from '../../transaction.ts';
import { type Actor, decide } from '../approval-states.ts';
import { claimAttempt, renewLease, runAttempt, waitForEnd } from '../attempt-lease.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import { requireApplicable, requireStep } from '../change-kind.ts';
import { blockedBy, requireSuccess } from '../refusal.ts';
import { type ApprovalInput, close, countApprovals, requirePresent, storeApproval } from './change-request-approval.ts';
import { type Attempt, finishApplied, finishFailed, finishRefused, type Input } from './change-request-finish.ts';
import { actorOf, changeRequests, requireComment } from './change-request-kind.ts';
import { notePhaseChange } from './change-request-operations.ts';
import type { ChangeRequest } from './change-request-schema.ts';
import { type ChangeRequestState, changeRequestMachine } from './change-request-states.ts';
import {
  lockChangeRequest,
  requireChangeRequest,
  type StoredChangeRequest,
  showChangeRequest,
} from './change-requests.ts';
import { missingApprovals } from './possible-steps.ts';

const applyDeadlineMs = 5 * 60_000;

/** Applies a change request and answers it applied; what keeps it from being applied is 422. */
export async function apply(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => ApprovalInput,
): Promise<ChangeRequest> {
  const before = await requireChangeRequest(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  const isDirect = before.status === 'requested';
  if (isDirect) requireStep(changeRequests, before, 'approve_and_apply', actor);
  const mode = isDirect ? 'begin' : requireApplicable(changeRequests, before, actor);
  const input = readBody();
  if (mode === 'answer the outcome') return showChangeRequest(ctx, call, id);
  if (mode !== 'begin') return answerApplied(ctx, call, id);
  if (isDirect) await prepareApproval(ctx, call, before, input);
  const begun = await transactOnce(
    ctx,
    call,
    (tx) => (isDirect ? approveAndBegin(tx, ctx, call, id, actor, input) : begin(tx, ctx, call, id, actor, input)),
    () => id,
  );
  const refusal = await applyAttempt(ctx, call, begun, false);
  if (refusal === undefined) return answerApplied(ctx, call, id);
  await releaseKey(ctx, call);
  throw refusal;
}

async function prepareApproval(
  ctx: MetadataContext,
  call: CallContext,
  before: StoredChangeRequest,
  { revision, comment = null }: ApprovalInput,
): Promise<void> {
  requireComment(before, comment);
  await requirePresent(ctx, call, before.id, revision);
  await notePhaseChange(ctx, call, before.id);
}

// Where one more approval is enough, approval and application are one step.
async function approveAndBegin(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  actor: Actor,
  { revision, comment = null }: ApprovalInput,
): Promise<Attempt> {
  const now = await lockChangeRequest(tx, call, id);
  requireStep(changeRequests, now, 'approve_and_apply', actor);
  await storeApproval(tx, call, now, { revision, comment });
  const missing = missingApprovals(now.policy, await countApprovals(tx, id, revision));
  if (missing !== undefined)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: missing,
      params: { required_approvals: now.policy.required_approvals },
    });
  await close(tx, ctx, call, now, revision, 'applying');
  await recordAction(tx, changeRequestMachine, id, 'approve', call, comment);
  await announceChange(tx, call, changeRequests, now, 'approve', {
    user_id: call.userId ?? null,
    comment,
    revision,
  });
  return storeAttempt(tx, ctx, call, { ...now, status: 'approved' }, revision, null);
}

async function begin(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  actor: Actor,
  { revision, comment = null }: ApprovalInput,
): Promise<Attempt> {
  const now = await lockChangeRequest(tx, call, id);
  requireStep(changeRequests, now, 'apply', actor);
  if (revision !== now.approved_revision) await approveAgain(tx, ctx, call, now, actor, { revision, comment });
  return storeAttempt(tx, ctx, call, now, revision, comment);
}

// Rows have changed since the approval. A reviewer whose approval is enough alone may apply what
// they were shown now; anybody else needs the approval of others.
async function approveAgain(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  now: StoredChangeRequest,
  actor: Actor,
  input: ApprovalInput,
): Promise<void> {
  const { policy, approved_revision } = now;
  const { verdict } = decide(changeRequestMachine, 'requested', 'approve_and_apply', actor, !policy.self_approval);
  if (verdict !== 'allowed' || policy.required_approvals > 1)
    throw new ServiceError('wrong_state', {
      code: 'outdated',
      message: 'The request was approved under another revision; withdraw it and send it again for approval.',
      params: { revision: approved_revision },
    });
  await requirePresent(ctx, call, now.id, input.revision);
  await storeApproval(tx, call, now, input);
  const data = { approved_by: call.userId ?? null, approved_revision: input.revision };
  await tx.change_request.update({ where: { id: now.id }, data });
}

async function storeAttempt(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  now: StoredChangeRequest,
  revision: string,
  comment: string | null,
): Promise<Attempt> {
  const { id } = now;
  const number = now.attempt + 1;
  const { rows } = await prismaSql(tx)(
    `select nextval(pg_get_serial_sequence('change_request', 'id'))::int as rest_id`,
  );
  const input: Input = { revision, rest_id: rows[0]?.rest_id };
  await tx.change_request.update({
    where: { id },
    data: {
      status: 'applying',
      attempt: number,
      asked: input as unknown as Prisma.InputJsonValue,
      error: null,
      applied_by: call.userId ?? null,
      was_resumed: false,
      tries: 0,
    },
  });
  await renewLease(tx, ctx, changeRequestMachine, { id, number });
  await recordAction(tx, changeRequestMachine, id, 'apply', call, comment);
  await announceChange(tx, call, changeRequests, now, 'apply', { user_id: call.userId ?? null, comment, revision });
  return { id, number, input, tries: 0 };
}

/**
 * Has data apply an attempt, and stores the outcome. Answers why it was not applied; undefined: it
 * was, or is not over.
 */
function applyAttempt(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  isResumed: boolean,
): Promise<ServiceError | undefined> {
  const work = async () => {
    const result = await applyInData(ctx, caller, attempt, isResumed);
    if (result.status !== 'applied') return finishRefused(ctx, caller, attempt, result, isResumed);
    await finishApplied(ctx, caller, attempt, result, isResumed);
    return undefined;
  };
  const fail = async (reasons: string[]) => {
    await finishFailed(ctx, caller, attempt, reasons, isResumed);
    return blockedBy(reasons);
  };
  return runAttempt(ctx, changeRequestMachine, attempt, { work, fail, fault: 'It could not be applied; try again.' });
}

async function applyInData(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  isResumed: boolean,
): Promise<AppliedChangeRequest__Output> {
  const { id, input } = attempt;
  const apply_id = applyId(attempt);
  if (isResumed) {
    const found = await ctx.data.GetAppliedChangeRequest(caller, { apply_id });
    if (found.status !== 'unknown') return found;
  }
  const { created_by, approved_by } = await requireChangeRequest(ctx, caller, id);
  const request = {
    apply_id,
    change_request_id: id,
    revision: input.revision,
    rest_request_id: input.rest_id,
    ...(created_by === null ? {} : { requested_by: created_by }),
    ...(approved_by === null ? {} : { approved_by }),
  };
  return ctx.data.ApplyChangeRequest(caller, request, { deadlineMs: applyDeadlineMs });
}

/** The id under which data applies an attempt, once. */
const applyId = ({ id, number }: Attempt) => `metadata-${id}-${number}`;

/** Resumes a change request whose lease has run out. */
export async function resumeChangeRequest(ctx: MetadataContext, id: number): Promise<void> {
  const claimed = await claimAttempt<Input>(ctx, changeRequestMachine, id);
  if (claimed) await applyAttempt(ctx, claimed.caller, claimed, true);
}

/**
 * Waits for a running change request and answers it: applied, 422 with the reasons, or 503 while it
 * runs.
 */
export async function answerApplied(ctx: MetadataContext, call: CallContext, id: number): Promise<ChangeRequest> {
  await waitForEnd(ctx, changeRequestMachine, id, resumeChangeRequest);
  const request = await requireChangeRequest(ctx, call, id);
  requireSuccess(changeRequestMachine, request, 'applied');
  const state = request.status as ChangeRequestState;
  if (state !== 'applied' && request.error !== null) throw blockedBy(request.error.split('\n'));
  return showChangeRequest(ctx, call, id);
}
