// Which steps the caller may take with promotions.
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import type { MetadataContext } from '../../context.ts';
import type { Allowed } from '../../rights/allowed-actions.ts';
import { judgeSteps } from '../change-actions.ts';
import { actorAt, placesOf } from './promotion-rights.ts';
import type { PromotionSummary } from './promotion-schema.ts';
import { promotionMachine } from './promotion-states.ts';

/** Judges the steps of promotions that the caller sees, with two queries for all. */
export async function judgePromotions(
  ctx: MetadataContext,
  call: CallContext,
  promotions: PromotionSummary[],
): Promise<Allowed[]> {
  requireUser(call);
  const ids = promotions.map(({ id }) => id);
  const [held, tables] = await Promise.all([
    ctx.rights.get(call),
    ctx.prisma.promotion_table.findMany({
      where: { promotion_id: { in: ids }, promotion: { account_id: call.accountId } },
      select: { promotion_id: true, table_definition_id: true, target_definition_id: true, domain_id: true },
    }),
  ]);
  const places = await placesOf(ctx, call, tables);
  const placed = Map.groupBy(places.keys(), (i) => (tables[i] as (typeof tables)[number]).promotion_id);
  return promotions.map((promotion) => {
    const { id, created_by, to_branch_id, status, to_branch } = promotion;
    const own = (placed.get(id) ?? []).map((i) => places[i] as (typeof places)[number]);
    const actor = actorAt(held, call, { created_by, to_branch_id }, own);
    return judgeSteps(promotionMachine, call, { status, isProtected: to_branch.is_protected }, actor);
  });
}
