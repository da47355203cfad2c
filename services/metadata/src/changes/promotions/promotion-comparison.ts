// The comparison that promoting begins with: made again under locks, and held against the caller's rights and what he was shown.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { HeldRights } from '@almanac/service-kit/rights/rights';
import type { Transaction } from '../../transaction.ts';
import type { Recipients } from '../approval-mails.ts';
import { requireReviewed, type Shown } from '../reviewed-revisions.ts';
import { violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import { decideBy, type GivenResolution, requireResolved } from './comparison/conflict-resolutions.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import { endFailed } from './promotion-finish.ts';
import { actorOfCompared } from './promotion-rights.ts';
import {
  allowStep,
  lockPromotion,
  mailPromotion,
  planStored,
  recordAction,
  recordTargets,
  type StoredPromotion,
  shownBy,
} from './promotions.ts';

/** `revision`: promote only what was shown under it. */
export type PromoteInput = { resolutions?: GivenResolution[]; revision?: string };

/** What whoever promotes may, and whoever hears how it ended. */
export type People = { held: HeldRights; creator: Recipients };

export const taken = 'Another table with this name or key has come to the target branch';

/** `approvedBy`: who has approved of it by promoting it. */
type Compared = { now: StoredPromotion; plan: PromotionPlan; revision: string; approvedBy: number | null };

/** Locks and compares. A refusal that leaves something behind is answered, so that it commits; any other is thrown. */
export async function compareLocked(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  { held, creator }: People,
  { resolutions = [], revision: seen }: PromoteInput,
): Promise<Compared | ServiceError> {
  await lockBranches(tx, call, before, idsOf(before));
  const now = await lockPromotion(tx, call, before.id);
  const { pairs, plan, revision } = await planStored(tx, call, now, decideBy(resolutions));
  const actor = actorOfCompared(held, call, now, pairs);
  allowStep(now, 'promote', actor);
  const change = { noun: 'promotion', id: now.id, branch: now.to_branch, created_by: now.created_by } as const;
  const names = new Map(pairs.map(({ sourceId, name }) => [sourceId, name]));
  await requireReviewed(tx, call, change, { asked: askedFor(now), now: shownBy({ pairs, revision }), names }, seen);
  requireResolved(plan.conflicts, resolutions);
  await recordAction(tx, now.id, 'promote', call, null);
  const blockers = violationsOf(plan.tables.map(({ diff }) => diff));
  if (blockers.length === 0) {
    await recordTargets(tx, now.id, pairs);
    const approves = now.to_branch.is_protected && (actor.approver || actor.administrator);
    return { now, plan, revision, approvedBy: approves ? (call.userId ?? null) : null };
  }
  const reasons = blockers.map(({ table, message }) => `${table}: ${message}`);
  await endFailed(tx, call, now, plan, { reasons });
  await mailPromotion(tx, call, creator, now, plan, { comment: null, outcome: 'failed', reasons });
  return validationFailed(reasons);
}

/** The definitions that were named. */
export const idsOf = ({ tables }: StoredPromotion): number[] =>
  tables.map(({ table_definition_id }) => table_definition_id);

const askedFor = ({ revision, tables }: StoredPromotion): Shown => ({
  revision,
  facts: tables.map(({ table_definition_id, source_version, target_definition_id, target_version }) => [
    table_definition_id,
    source_version,
    target_definition_id,
    target_version,
  ]),
});
