// The check that promoting begins with: the branches are compared once more, locked, and the result
// is held against the caller's rights, the reviewed revision, open conflicts and blockers.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { ServiceError } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import type { HeldRights } from '@almanac/service-kit/rights/rights';
import type { Transaction } from '../../transaction.ts';
import type { Recipients } from '../approval-mails.ts';
import { recordAction } from '../change-history.ts';
import { approverOf, requireStep } from '../change-kind.ts';
import { blockedBy } from '../refusal.ts';
import { type RowRevisions, requireReviewed } from '../reviewed-revisions.ts';
import { describeViolations, violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import { decideBy, type GivenResolution, requireResolved } from './comparison/conflict-resolutions.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import { compare, reviewedRevision } from './promotion-comparison.ts';
import { storeFailure } from './promotion-finish.ts';
import { actorOfLocked } from './promotion-rights.ts';
import { promotionMachine } from './promotion-states.ts';
import { proposedRevision, storeTargets } from './promotion-tables.ts';
import { idsOf, lockPromotion, mailOutcome, promotions, type StoredPromotion } from './promotions.ts';

/** `revision`: promote only what was shown under it. */
export type PromoteInput = { resolutions?: GivenResolution[]; revision?: string };

/** `rows`: what the caller who insists on a revision would promote of them now. */
type CheckInput = PromoteInput & { rows?: RowRevisions | undefined };

/** The rights of the caller, and the recipients of the mail about the outcome. */
export type Parties = { held: HeldRights; creator: Recipients };

export const targetTaken: Problem = {
  code: 'taken',
  message: 'Another table with this name or key has come to the target branch',
};

/** `approvedBy`: the user who approves the promotion by promoting it. */
type Checked = { now: StoredPromotion; plan: PromotionPlan; revision: string; approvedBy: number | null };

/**
 * Locks, compares and checks. A refusal that is stored is answered, so that it commits; others
 * throw.
 */
export async function checkPromotion(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  { held, creator }: Parties,
  { resolutions = [], revision: seen, rows }: CheckInput,
): Promise<Checked | ServiceError> {
  await lockBranches(tx, call, before, idsOf(before));
  const now = await lockPromotion(tx, call, before.id);
  const { pairs, plan, revision } = await compare(tx, call, now, decideBy(resolutions));
  const actor = actorOfLocked(held, call, now, pairs);
  requireStep(promotions, now, 'promote', actor);
  const change = { id: now.id, branch: now.to_branch, created_by: now.created_by };
  const revisions = {
    proposed: proposedRevision(now),
    now: reviewedRevision({ pairs, revision }, rows),
    names: new Map(pairs.map(({ sourceId, name }) => [sourceId, name])),
  };
  await requireReviewed(tx, call, promotionMachine, change, revisions, seen);
  requireResolved(plan.conflicts, resolutions);
  await recordAction(tx, promotionMachine, now.id, 'promote', call, null);
  const reasons = describeViolations(violationsOf(plan.tables.map(({ diff }) => diff)));
  if (reasons.length === 0) {
    await storeTargets(tx, now.id, pairs);
    return { now, plan, revision, approvedBy: approverOf(call, now.to_branch, actor) };
  }
  await storeFailure(tx, call, now, plan, { reasons });
  await mailOutcome(tx, call, creator, now, plan, { outcome: 'failed', reasons });
  return blockedBy(reasons);
}
