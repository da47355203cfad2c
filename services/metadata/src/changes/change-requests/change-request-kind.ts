// Change requests as a kind of change: the steps that change the state alone, and with it the phase
// of the operations in data.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { isKnown } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import type { Transaction } from '../../transaction.ts';
import type { MailContents } from '../approval-mails.ts';
import type { Actor } from '../approval-states.ts';
import { type ChangeKind, requireStep, type StoredStep } from '../change-kind.ts';
import {
  notePhaseChange,
  operationContents,
  type Summary,
  setPhase,
  storedTables,
  storeTables,
} from './change-request-operations.ts';
import { actorBy, readHeld } from './change-request-rights.ts';
import type { ChangeRequest } from './change-request-schema.ts';
import { type ChangeRequestState, changeRequestMachine, type Phase, phases } from './change-request-states.ts';
import {
  lockChangeRequest,
  requireChangeRequest,
  type StoredChangeRequest,
  showChangeRequest,
} from './change-requests.ts';

/** Has data set the phase of the request's operations. */
type PhaseSetter = (phase: Phase) => Promise<Summary>;

/** The roles of the caller, by rights that identity answers now; 404 on a hidden private branch. */
export async function actorOf(
  ctx: MetadataContext,
  call: CallContext,
  request: Pick<StoredChangeRequest, 'branch_id' | 'created_by' | 'application_id' | 'tables'>,
): Promise<Actor> {
  const held = await readHeld(ctx, call, { fresh: true });
  const { branch_id: branchId, tables } = request;
  const isHidden = (id?: number) => held && !isKnown(held, { branchId, tableDefinitionId: id });
  if (isHidden() && tables.every(({ table_definition_id }) => isHidden(table_definition_id)))
    throw notFound('Change request');
  return actorBy(held, call, request);
}

/** Throws 422 when the policy wants a comment and there is none. */
export function requireComment({ policy }: StoredChangeRequest, comment: string | null): void {
  if (policy.comment_required && (comment ?? '').trim() === '')
    throw validationFailed({
      code: 'blank',
      message: "Comment can't be blank: the policy of the branch or of a table wants a reason",
      field: 'comment',
    });
}

async function prepareStep(
  ctx: MetadataContext,
  call: CallContext,
  request: StoredChangeRequest,
  { action, comment, actor }: { action: string; comment: string | null; actor: Actor },
): Promise<PhaseSetter> {
  requireStep(changeRequests, request, action, actor);
  if (action === 'send_request') requireComment(request, comment);
  await notePhaseChange(ctx, call, request.id);
  return (phase) => setPhase(ctx, call, request.id, phase);
}

// The phase is set under the lock on the request, so states and phases follow each other in one
// order. When the transaction fails afterwards, the reconciler sets the phase of the state again.
async function storeStep(
  tx: Transaction,
  _call: CallContext,
  request: StoredChangeRequest,
  { action, status }: StoredStep,
  setPhaseTo?: PhaseSetter,
): Promise<MailContents> {
  const { id } = request;
  const [before, after] = [phases[request.status as ChangeRequestState], phases[status as ChangeRequestState]];
  const isNew = setPhaseTo && (before !== after || action === 'send_request');
  const tables = isNew ? storedTables(await setPhaseTo(after)) : request.tables;
  if (action === 'send_request') await storeTables(tx, id, tables);
  // Whatever is proposed next needs approvals of its own.
  if (after !== 'closed') await tx.change_request_approval.deleteMany({ where: { change_request_id: id } });
  const unapproved = after === 'closed' ? {} : { approved_by: null, approved_revision: null };
  await tx.change_request.update({
    where: { id },
    data: { status, phase_pending_at: null, error: null, ...unapproved },
  });
  return operationContents(request.title, tables);
}

/** Change requests as a kind of change. */
export const changeRequests: ChangeKind<StoredChangeRequest, PhaseSetter, ChangeRequest> = {
  machine: changeRequestMachine,
  mails: {
    send_request: { occasion: 'requested' },
    request_changes: { occasion: 'decided', outcome: 'returned' },
    reject: { occasion: 'decided', outcome: 'rejected' },
  },
  branchOf: ({ branch }) => branch,
  isGuarded: ({ policy }) => !policy.self_approval,
  branchIds: ({ branch_id }) => ({ branch_id }),
  branchNames: async (_tx, _call, { branch }) => ({ branch: branch.name }),
  require: requireChangeRequest,
  lock: lockChangeRequest,
  actorOf,
  prepareStep,
  storeStep,
  get: (ctx, call, id) => showChangeRequest(ctx, call, id),
  show: showChangeRequest,
};
