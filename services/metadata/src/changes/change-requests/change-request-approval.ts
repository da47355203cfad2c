// Approving a change request. An approval is given under the revision that the approver was shown;
// when as many users as the policy wants have approved the same one, the request is approved, what
// was undecided is accepted, and nothing of it can be changed any more.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { announce, recordAct, type Transaction } from '../../transaction.ts';
import { findRecipients, type Recipients, requestMails } from '../approval-mails.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import { requireStep } from '../change-kind.ts';
import { actorOf, changeRequests, requireComment } from './change-request-kind.ts';
import { notePhaseChange, operationContents, setPhase, summarizeWithRevision } from './change-request-operations.ts';
import type { ChangeRequest } from './change-request-schema.ts';
import { changeRequestMachine } from './change-request-states.ts';
import {
  lockChangeRequest,
  requireChangeRequest,
  type StoredChangeRequest,
  showChangeRequest,
} from './change-requests.ts';

/** `revision`: the one that the approver was shown. */
export type ApprovalInput = { revision: string; comment?: string | null | undefined };

/** Approves a change request for the caller, and answers it. */
export async function approve(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => ApprovalInput,
): Promise<ChangeRequest> {
  const before = await requireChangeRequest(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  requireStep(changeRequests, before, 'approve', actor);
  const { revision, comment = null } = readBody();
  requireComment(before, comment);
  await requirePresent(ctx, call, id, revision);
  await notePhaseChange(ctx, call, id);
  const subject = { branchId: before.branch_id, creatorId: before.created_by };
  const creator = await findRecipients(ctx, call, 'decided', subject);
  const step = async (tx: Transaction) => {
    const now = await lockChangeRequest(tx, call, id);
    requireStep(changeRequests, now, 'approve', actor);
    await storeApproval(tx, call, now, { revision, comment });
    await recordAction(tx, changeRequestMachine, id, 'approve', call, comment);
    if ((await countApprovals(tx, id, revision)) < now.policy.required_approvals)
      return announceApproval(tx, call, now, revision);
    await close(tx, ctx, call, now, revision, 'approved');
    await announceChange(tx, call, changeRequests, now, 'approve', { user_id: call.userId ?? null, comment, revision });
    await mailApproval(tx, call, creator, now, comment);
  };
  await transactOnce(ctx, call, step, () => id);
  return showChangeRequest(ctx, call, id);
}

/** Throws 422 when the present revision is another one, which the problem names. */
export async function requirePresent(
  ctx: MetadataContext,
  caller: RpcCaller,
  id: number,
  revision: string,
): Promise<void> {
  const summary = await summarizeWithRevision(ctx, caller, id);
  if (summary?.revision !== revision) throw outdated(summary?.revision ?? null);
}

const outdated = (revision: string | null): ServiceError =>
  new ServiceError('wrong_state', {
    code: 'outdated',
    message:
      'Operations, decisions or rows have changed since this revision was shown; look at the request as it is now.',
    params: { revision },
  });

/** Stores the caller's approval of a revision; an earlier one of theirs is replaced. */
export async function storeApproval(
  tx: Transaction,
  { userId = 0 }: RpcCaller,
  { id }: { id: number },
  { revision, comment = null }: ApprovalInput,
): Promise<void> {
  const approval = { revision, comment, at: new Date() };
  await tx.change_request_approval.upsert({
    where: { change_request_id_user_id: { change_request_id: id, user_id: userId } },
    create: { change_request_id: id, user_id: userId, ...approval },
    update: approval,
  });
}

/** How many users have approved the revision. */
export const countApprovals = (tx: Transaction, id: number, revision: string): Promise<number> =>
  tx.change_request_approval.count({ where: { change_request_id: id, revision } });

/**
 * Closes an approved request in data, and stores who approved what. What is undecided becomes
 * accepted, which keeps the revision; a decision or a write of another user may have come between.
 */
export async function close(
  tx: Transaction,
  ctx: MetadataContext,
  caller: RpcCaller,
  { id }: { id: number },
  revision: string,
  status: 'approved' | 'applying',
): Promise<void> {
  await setPhase(ctx, caller, id, 'closed', caller.userId);
  const present = (await summarizeWithRevision(ctx, caller, id))?.revision;
  if (present !== revision) {
    await setPhase(ctx, caller, id, 'review');
    throw outdated(present ?? null);
  }
  const data = { status, approved_by: caller.userId ?? null, approved_revision: revision };
  await tx.change_request.update({ where: { id }, data: { ...data, error: null, phase_pending_at: null } });
}

// More approvals are needed, so the state stays as it is.
async function announceApproval(
  tx: Transaction,
  call: CallContext,
  { id, branch_id, status }: StoredChangeRequest,
  revision: string,
): Promise<void> {
  await tx.change_request.update({ where: { id }, data: { phase_pending_at: null } });
  const event = 'change_request.approval_given';
  const facts = { branch_id, revision };
  await announce(tx, call, event, { change_request_id: id, user_id: call.userId ?? null, ...facts });
  await recordAct(tx, call, {
    action: event,
    result: 'succeeded',
    resource_type: 'change_request',
    resource_id: id,
    before: { status },
    after: { status, ...facts },
  });
}

async function mailApproval(
  tx: Transaction,
  call: CallContext,
  creator: Recipients,
  { id, title, branch, tables }: StoredChangeRequest,
  comment: string | null,
): Promise<void> {
  await requestMails(tx, call, creator, {
    noun: 'change_request',
    id,
    branch: branch.name,
    comment,
    contents: operationContents(title, tables),
    outcome: 'approved',
    reasons: [],
  });
}
