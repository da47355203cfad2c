// Promoting: compared again under locks, and written, all in one transaction (design 3.6), so that a process that dies leaves
// nothing half done.
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { type Addressees, findAddressees } from '../approval-mails.ts';
import type { Actor } from '../approval-states.ts';
import type { Context } from '../context.ts';
import { violationsOf } from '../deployments/violations.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { transactOnce } from '../repeated-requests.ts';
import { refusingTaken, type Transaction } from '../transaction.ts';
import { lockSides } from './branch-sides.ts';
import { decideBy, type GivenResolution, refuseUnsettled } from './conflict-resolutions.ts';
import { tellPromotion } from './promotion-news.ts';
import type { PromotionPlan, TablePair } from './promotion-plan.ts';
import type { Promotion } from './promotion-schema.ts';
import { writePlan } from './promotion-write.ts';
import {
  actorOf,
  allowStep,
  getPromotion,
  lockPromotion,
  mailPromotion,
  noteAction,
  planStored,
  rememberShown,
  requirePromotion,
  type StoredPromotion,
} from './promotions.ts';

/** `revision`: promote only what was shown under it. */
export type PromoteInput = { resolutions?: GivenResolution[]; revision?: string };

/** Merges a promotion into its target branch and answers it promoted; what stands in the way is 422. */
export async function promote(
  ctx: Context,
  call: CallContext,
  id: number,
  readBody: () => PromoteInput,
): Promise<Promotion> {
  const before = await requirePromotion(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  allowStep(before, 'promote', actor);
  const input = readBody();
  const subject = { branchId: before.to_branch_id, creatorId: before.created_by };
  const creator = await findAddressees(ctx, call, 'decided', subject);
  const refusal = await refusingTaken('Another table with this name or key has come to the target branch', () =>
    transactOnce(
      ctx,
      call,
      (tx) => attempt(tx, call, before, { actor, creator }, input),
      (refused) => (refused ? undefined : id),
    ),
  );
  if (refusal) throw refusal;
  return getPromotion(ctx, call, id);
}

/** Whoever promotes, and whoever hears how it ended. */
type People = { actor: Actor; creator: Addressees };

// A refusal that leaves something behind is answered, so that it commits; any other is thrown.
async function attempt(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  { actor, creator }: People,
  { resolutions = [], revision: seen }: PromoteInput,
): Promise<ServiceError | undefined> {
  await lockSides(tx, call, before, idsOf(before));
  const now = await lockPromotion(tx, call, before.id);
  allowStep(now, 'promote', actor);
  const { pairs, plan, revision } = await planStored(tx, call, now, decideBy(resolutions));
  if (revision !== (seen ?? now.revision)) {
    await rememberShown(tx, now.id, pairs, revision);
    return new ServiceError('wrong_state', describeStale(now, pairs));
  }
  refuseUnsettled(plan.conflicts, resolutions);
  await noteAction(tx, now.id, 'promote', call.userId ?? null, null);
  const blockers = violationsOf(plan.tables.map(({ diff }) => diff));
  if (blockers.length > 0) {
    const reasons = blockers.map(({ table, message }) => `${table}: ${message}`);
    await fail(tx, call, now, plan, reasons);
    await mailPromotion(tx, call, creator, now, plan, { comment: null, outcome: 'failed', reasons });
    return validationFailed(reasons);
  }
  await writePlan(tx, call, now, plan.tables);
  await succeed(tx, call, now, plan, actor);
  await mailPromotion(tx, call, creator, now, plan, { comment: null, outcome: 'promoted', reasons: [] });
  return undefined;
}

const idsOf = ({ tables }: StoredPromotion) => tables.map(({ table_definition_id }) => table_definition_id);

function describeStale({ tables }: StoredPromotion, pairs: TablePair[]): string[] {
  const shown = new Map(tables.map((table) => [table.table_definition_id, table]));
  const moved = pairs.filter(({ sourceId, sourceVersion, targetId, targetVersion }) => {
    const then = shown.get(sourceId);
    return (
      then?.source_version !== sourceVersion ||
      then.target_definition_id !== targetId ||
      then.target_version !== targetVersion
    );
  });
  const reasons = moved.map(({ name }) => `${name} has changed since the diffs were shown`);
  return [
    ...(reasons.length > 0 ? reasons : ['The diffs are not those that were shown']),
    'Look at the promotion again, then promote it.',
  ];
}

async function fail(
  tx: Transaction,
  call: CallContext,
  now: StoredPromotion,
  plan: PromotionPlan,
  reasons: string[],
): Promise<void> {
  await tx.promotion.update({
    where: { id: now.id },
    data: { status: 'failed', error: reasons.join('\n'), ...recorded(plan) },
  });
  await noteAction(tx, now.id, 'fail', null, reasons.join('\n'));
  await tellPromotion(tx, call, 'fail', now, { reasons });
}

async function succeed(
  tx: Transaction,
  call: CallContext,
  now: StoredPromotion,
  plan: PromotionPlan,
  actor: Actor,
): Promise<void> {
  const user = call.userId ?? null;
  const approves = now.to_branch.is_protected && (actor.approver || actor.administrator);
  const { pairs, revision } = await planStored(tx, call, now);
  await rememberShown(tx, now.id, pairs, revision);
  await tx.promotion.update({
    where: { id: now.id },
    data: {
      status: 'promoted',
      error: null,
      promoted_by: user,
      approved_by: approves ? user : null,
      promoted_at: new Date(),
      ...recorded(plan),
    },
  });
  await noteAction(tx, now.id, 'succeed', null, null);
  await tellPromotion(tx, call, 'succeed', now, { user_id: user });
}

const recorded = ({ tables, conflicts }: PromotionPlan) => ({
  diffs: tables.map(({ diff }) => diff) as Prisma.InputJsonValue,
  conflicts: conflicts as unknown as Prisma.InputJsonValue,
});
