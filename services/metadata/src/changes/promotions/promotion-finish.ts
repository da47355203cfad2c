// How promoting ends: noted with what was merged, and told.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../../transaction.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import { announcePromotion } from './promotion-events.ts';
import type { MergedRows } from './promotion-schema.ts';
import { planStored, recordAction, recordProposedState, type StoredPromotion } from './promotions.ts';

/** Notes that a promotion came to nothing, and why. `rows`: what came of its rows all the same. */
export async function endFailed(
  tx: Transaction,
  caller: RpcCaller,
  now: StoredPromotion,
  plan: PromotionPlan,
  { reasons, ...facts }: { reasons: string[]; rows?: MergedRows[]; was_resumed?: boolean },
): Promise<void> {
  await tx.promotion.update({
    where: { id: now.id },
    data: { status: 'failed', error: reasons.join('\n'), lease_until: null, ...recorded(plan), ...facts },
  });
  await recordAction(tx, now.id, 'fail', caller, reasons.join('\n'));
  await announcePromotion(tx, caller, 'fail', now, { reasons });
}

type Success = { approved_by: number | null; rows?: MergedRows[]; was_resumed?: boolean };

/** Notes that a promotion is merged. */
export async function endPromoted(
  tx: Transaction,
  caller: RpcCaller,
  now: StoredPromotion,
  plan: PromotionPlan,
  facts: Success,
): Promise<void> {
  const user = caller.userId ?? null;
  const { pairs, revision } = await planStored(tx, caller, now);
  await recordProposedState(tx, now.id, pairs, revision);
  await tx.promotion.update({
    where: { id: now.id },
    data: {
      status: 'promoted',
      error: null,
      lease_until: null,
      promoted_by: user,
      promoted_at: new Date(),
      ...recorded(plan),
      ...facts,
    },
  });
  await recordAction(tx, now.id, 'succeed', caller, null);
  await announcePromotion(tx, caller, 'succeed', now, { user_id: user });
}

const recorded = ({ tables, conflicts }: PromotionPlan) => ({
  diffs: tables.map(({ diff }) => diff) as Prisma.InputJsonValue,
  conflicts: conflicts as unknown as Prisma.InputJsonValue,
});
