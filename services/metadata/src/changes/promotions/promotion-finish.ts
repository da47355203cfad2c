// The outcome of promoting, stored with what was merged, and announced.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../../transaction.ts';
import { announceChange } from '../change-events.ts';
import { recordAction } from '../change-history.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import { compare } from './promotion-comparison.ts';
import { promotionMachine } from './promotion-states.ts';
import { storeRevision } from './promotion-tables.ts';
import { promotions, type StoredPromotion } from './promotions.ts';
import type { MergedRows } from './rows/rows-schema.ts';

/** Stores that a promotion failed, and why. `rows`: those that were merged all the same. */
export async function storeFailure(
  tx: Transaction,
  caller: RpcCaller,
  now: StoredPromotion,
  plan: PromotionPlan,
  { reasons, ...facts }: { reasons: string[]; rows?: MergedRows[]; was_resumed?: boolean },
): Promise<void> {
  const error = reasons.join('\n');
  await tx.promotion.update({
    where: { id: now.id },
    data: { status: 'failed', error, lease_until: null, ...storedPlan(plan), ...facts },
  });
  await recordAction(tx, promotionMachine, now.id, 'fail', caller, error);
  await announceChange(tx, caller, promotions, now, 'fail', { reasons });
}

type Success = { approved_by: number | null; rows?: MergedRows[]; was_resumed?: boolean };

/** Stores that a promotion is merged. */
export async function storeSuccess(
  tx: Transaction,
  caller: RpcCaller,
  now: StoredPromotion,
  plan: PromotionPlan,
  facts: Success,
): Promise<void> {
  const user = caller.userId ?? null;
  await storeRevision(tx, now.id, await compare(tx, caller, now));
  await tx.promotion.update({
    where: { id: now.id },
    data: {
      status: 'promoted',
      error: null,
      lease_until: null,
      promoted_by: user,
      promoted_at: new Date(),
      ...storedPlan(plan),
      ...facts,
    },
  });
  await recordAction(tx, promotionMachine, now.id, 'succeed', caller, null);
  await announceChange(tx, caller, promotions, now, 'succeed', { user_id: user });
}

const storedPlan = ({ tables, conflicts }: PromotionPlan) => ({
  diffs: tables.map(({ diff }) => diff) as Prisma.InputJsonValue,
  conflicts: conflicts as unknown as Prisma.InputJsonValue,
});
