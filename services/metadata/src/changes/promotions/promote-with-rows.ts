// Promoting definitions and rows. An attempt is stored first (`promoting`, with its resolutions),
// then data merges the rows under an id of their own, then the definitions are written. After a
// crash any process may resume the attempt: data merges the same id only once.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { messagesOf } from '@almanac/service-kit/problems';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../../requests/idempotency.ts';
import { mapUniqueViolation, type Transaction, transact } from '../../transaction.ts';
import { findRecipients, type Recipients } from '../approval-mails.ts';
import { claimAttempt, renewLease, runAttempt, waitForEnd } from '../attempt-lease.ts';
import { deleteApplyAction } from '../change-history.ts';
import { blockedBy, requireSuccess } from '../refusal.ts';
import { NotReviewed, type RowRevisions, rowsChanged } from '../reviewed-revisions.ts';
import { describeViolations, violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import { decideBy, type GivenResolution } from './comparison/conflict-resolutions.ts';
import { isAboutRows } from './comparison/row-conflicts.ts';
import { checkPromotion, type Parties, type PromoteInput, targetTaken } from './promotion-check.ts';
import { compare, compareSnapshot } from './promotion-comparison.ts';
import { storeFailure, storeSuccess } from './promotion-finish.ts';
import type { Promotion } from './promotion-schema.ts';
import { promotionMachine } from './promotion-states.ts';
import { writePlan } from './promotion-write.ts';
import {
  getPromotion,
  idsOf,
  lockPromotion,
  mailOutcome,
  requirePromotion,
  type StoredPromotion,
} from './promotions.ts';
import { mergeDeadlineMs, mergeRows, type RowsOutcome, readRowRevisions, recordFirstRows } from './rows/merged-rows.ts';
import type { MergedRows } from './rows/rows-schema.ts';

/**
 * The input of an attempt, as it is stored. `status`: the state that the promotion returns to when
 * conflicts of rows are open. `rows`: those that the caller insists on.
 */
type Input = { resolutions: GivenResolution[]; revision: string; status: string; rows?: RowRevisions | undefined };
/** `tries`: how often the attempt was resumed without an outcome. */
type Attempt = { id: number; number: number; input: Input; tries: number };

/** Promotes definitions and rows; what blocks it is 422. */
export async function promoteWithRows(
  ctx: MetadataContext,
  call: CallContext,
  before: StoredPromotion,
  parties: Parties,
  input: PromoteInput,
): Promise<Promotion> {
  // Read before anything is locked; data compares them once more where they are merged.
  const rows = input.revision === undefined ? undefined : await readPresentRows(ctx, call, before);
  const begun = await transactOnce(
    ctx,
    call,
    (tx) => begin(tx, ctx, call, before, parties, { ...input, rows }),
    (made) => (made instanceof ServiceError ? undefined : before.id),
  );
  if (begun instanceof ServiceError) throw begun;
  const refusal = await applyAttempt(ctx, call, begun, false);
  if (refusal === undefined) return answerOutcome(ctx, call, before.id);
  await releaseKey(ctx, call);
  throw refusal;
}

async function readPresentRows(
  ctx: MetadataContext,
  call: CallContext,
  before: StoredPromotion,
): Promise<RowRevisions> {
  const { pairs } = await compareSnapshot(ctx, call, before);
  return readRowRevisions(ctx, call, { promotionId: before.id, pairs }, { deadlineMs: mergeDeadlineMs });
}

async function begin(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  before: StoredPromotion,
  parties: Parties,
  { resolutions = [], revision: seen, rows }: PromoteInput & { rows: RowRevisions | undefined },
): Promise<Attempt | ServiceError> {
  const aboutDefinitions = resolutions.filter((each) => !isAboutRows(each));
  const checked = await checkPromotion(tx, call, before, parties, {
    resolutions: aboutDefinitions,
    revision: seen,
    rows,
  });
  if (checked instanceof ServiceError) return checked;
  const { now, revision, approvedBy } = checked;
  const input: Input = { resolutions, revision, status: now.status, rows };
  const number = now.attempt + 1;
  await tx.promotion.update({
    where: { id: now.id },
    data: {
      status: 'promoting',
      attempt: number,
      asked: input as unknown as Prisma.InputJsonValue,
      error: null,
      promoted_by: call.userId ?? null,
      approved_by: approvedBy,
      was_resumed: false,
      tries: 0,
    },
  });
  await renewLease(tx, ctx, promotionMachine, { id: now.id, number });
  return { id: now.id, number, input, tries: 0 };
}

/**
 * Merges the rows and ends the attempt. Answers why it failed; undefined: it succeeded, or is not
 * over.
 */
function applyAttempt(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  isResumed: boolean,
): Promise<ServiceError | undefined> {
  const failFor = (reasons: string[]) => fail(ctx, caller, attempt, { reasons, was_resumed: isResumed });
  const work = async () => {
    const { status, rows, violations, conflictProblems, changedTables } = await mergeInData(ctx, caller, attempt);
    if (status === 'merged') return finish(ctx, caller, attempt, rows, isResumed);
    if (changedTables.length > 0)
      return revertAttempt(ctx, caller, attempt, new NotReviewed(promotionMachine, changedTables.map(rowsChanged)));
    if (violations.length === 0) return revertAttempt(ctx, caller, attempt, validationFailed(conflictProblems));
    return failFor([...describeViolations(violations), ...messagesOf(conflictProblems)]);
  };
  const fault = 'The rows could not be merged; try again.';
  return runAttempt(ctx, promotionMachine, attempt, { work, fail: failFor, fault });
}

async function mergeInData(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, number, input }: Attempt,
): Promise<RowsOutcome> {
  const { tables } = await requirePromotion(ctx, caller, id);
  return mergeRows(ctx, caller, {
    mergeId: `metadata-${id}-${number}`,
    promotionId: id,
    pairs: tables.map(({ table_definition_id, target_definition_id, name }) => ({
      sourceId: table_definition_id,
      targetId: target_definition_id,
      name,
    })),
    resolutions: input.resolutions,
    rehearsal: false,
    revisions: input.rows,
  });
}

const rowsAreMerged = 'Its rows are merged; look at the diffs as they are now, then promote them.';

// Merged rows can't be unmerged. If the definitions can't follow, the promotion fails with that
// reason, and promoting it again continues from here.
async function finish(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  rows: MergedRows[],
  isResumed: boolean,
): Promise<ServiceError | undefined> {
  const facts = { rows, was_resumed: isResumed };
  const { resolutions, revision } = attempt.input;
  try {
    const reasons = await mapUniqueViolation(targetTaken, () =>
      endAttempt(ctx, caller, attempt, async (tx, now, creator) => {
        const { plan, revision: present } = await compare(tx, caller, now, decideBy(resolutions));
        if (present !== revision) return ['The definitions have changed since promoting began.'];
        const blockers = describeViolations(violationsOf(plan.tables.map(({ diff }) => diff)));
        if (blockers.length > 0) return blockers;
        await writePlan(tx, { branching: true, ...caller }, now, plan.tables);
        await recordFirstRows(tx, caller, now, idsOf(now));
        await storeSuccess(tx, caller, now, plan, { approved_by: now.approved_by, ...facts });
        await mailOutcome(tx, caller, creator, now, plan, { outcome: 'promoted', reasons: [] });
        return undefined;
      }),
    );
    return reasons && fail(ctx, caller, attempt, { reasons: [...reasons, rowsAreMerged], ...facts });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return fail(ctx, caller, attempt, { reasons: [...error.errors, rowsAreMerged], ...facts });
  }
}

/** Runs the last step of an attempt under locks, unless another process has ended it. */
async function endAttempt<T>(
  ctx: MetadataContext,
  caller: RpcCaller,
  { id, number }: Attempt,
  step: (tx: Transaction, now: StoredPromotion, creator: Recipients) => Promise<T>,
): Promise<T | undefined> {
  const before = await requirePromotion(ctx, caller, id);
  const subject = { branchId: before.to_branch_id, creatorId: before.created_by };
  const creator = await findRecipients(ctx, caller, 'decided', subject);
  return transact(ctx, async (tx) => {
    await lockBranches(tx, caller, before, idsOf(before));
    const now = await lockPromotion(tx, caller, id);
    if (now.status !== 'promoting' || now.attempt !== number) return undefined;
    return step(tx, now, creator);
  });
}

type Failure = { reasons: string[]; rows?: MergedRows[]; was_resumed: boolean };

async function fail(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  failure: Failure,
): Promise<ServiceError> {
  const { reasons } = failure;
  await endAttempt(ctx, caller, attempt, async (tx, now, creator) => {
    const { plan } = await compare(tx, caller, now, decideBy(attempt.input.resolutions));
    await storeFailure(tx, caller, now, plan, failure);
    await mailOutcome(tx, caller, creator, now, plan, { outcome: 'failed', reasons });
  });
  return blockedBy(reasons);
}

// Open conflicts are no failure, and neither are other rows than were shown: the promotion returns
// to its state.
async function revertAttempt(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  refusal: ServiceError,
): Promise<ServiceError> {
  await endAttempt(ctx, caller, attempt, async (tx, { id }) => {
    const data = { status: attempt.input.status, promoted_by: null, approved_by: null, lease_until: null };
    await tx.promotion.update({ where: { id }, data: { ...data, asked: Prisma.DbNull } });
    await deleteApplyAction(tx, promotionMachine, id);
  });
  return refusal;
}

/** Resumes a promotion of rows whose lease has run out. */
export async function resumePromotion(ctx: MetadataContext, id: number): Promise<void> {
  const claimed = await claimAttempt<Input>(ctx, promotionMachine, id);
  if (claimed) await applyAttempt(ctx, claimed.caller, claimed, true);
}

/**
 * Waits for a running promotion and answers it: promoted, 422 with the reasons, or 503 while it
 * runs.
 */
export async function answerOutcome(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  await waitForEnd(ctx, promotionMachine, id, resumePromotion);
  const promotion = await requirePromotion(ctx, call, id);
  requireSuccess(promotionMachine, promotion, 'merged');
  const { status } = promotion;
  if (status !== 'promoted')
    throw new ServiceError('wrong_state', {
      code: 'merge_conflict',
      message: `Promotion is ${status}: conflicts of rows are undecided, or the rows have changed; rehearse it.`,
    });
  return getPromotion(ctx, call, id);
}
