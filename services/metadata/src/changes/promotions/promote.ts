// Promoting. Definitions alone are compared once more under locks and written, all in one
// transaction (design 3.6), so that a crash leaves nothing half done. promote-with-rows.ts promotes
// rows too.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { MetadataContext } from '../../context.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { mapUniqueViolation, type Transaction } from '../../transaction.ts';
import { findRecipients } from '../approval-mails.ts';
import { requireApplicable } from '../change-kind.ts';
import { answerOutcome, promoteWithRows } from './promote-with-rows.ts';
import { checkPromotion, type Parties, type PromoteInput, targetTaken } from './promotion-check.ts';
import { storeSuccess } from './promotion-finish.ts';
import { actorOf, requireVisibleRows } from './promotion-rights.ts';
import type { Promotion } from './promotion-schema.ts';
import { writePlan } from './promotion-write.ts';
import {
  getPromotion,
  mailOutcome,
  promotions,
  requirePromotion,
  type StoredPromotion,
  showPromotion,
} from './promotions.ts';

/** Merges a promotion into its target branch and answers it promoted; what blocks it is 422. */
export async function promote(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => PromoteInput,
): Promise<Promotion> {
  const before = await requirePromotion(ctx, call, id);
  const held = await ctx.rights.get(call, { fresh: true });
  const mode = requireApplicable(promotions, before, await actorOf(ctx, call, before, held));
  if (before.include_data) await requireVisibleRows(ctx, call, before);
  const input = readBody();
  if (mode === 'answer the outcome') return getPromotion(ctx, call, id);
  if (mode !== 'begin') return answerOutcome(ctx, call, id);
  const subject = { branchId: before.to_branch_id, creatorId: before.created_by };
  const parties = { held, creator: await findRecipients(ctx, call, 'decided', subject) };
  if (before.include_data) return promoteWithRows(ctx, call, before, parties, input);
  const refusal = await mapUniqueViolation(targetTaken, () =>
    transactOnce(
      ctx,
      call,
      (tx) => merge(tx, call, before, parties, input),
      (refused) => (refused ? undefined : id),
    ),
  );
  if (refusal) throw refusal;
  return getPromotion(ctx, call, id);
}

/** Answers a repeated request: waits for the promotion that the first one began. */
export async function answerPromoted(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  const { status } = await requirePromotion(ctx, call, id);
  return status === 'promoting' ? answerOutcome(ctx, call, id) : showPromotion(ctx, call, id);
}

// A refusal that is stored is answered, so that it commits; others throw.
async function merge(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  parties: Parties,
  input: PromoteInput,
): Promise<ServiceError | undefined> {
  const checked = await checkPromotion(tx, call, before, parties, input);
  if (checked instanceof ServiceError) return checked;
  const { now, plan, approvedBy } = checked;
  await writePlan(tx, call, now, plan.tables);
  await storeSuccess(tx, call, now, plan, { approved_by: approvedBy });
  await mailOutcome(tx, call, parties.creator, now, plan, { outcome: 'promoted', reasons: [] });
  return undefined;
}
