// Promoting. Definitions alone are compared again under locks and written, all in one transaction (design 3.6), so that a process
// that dies leaves nothing half done; with rows, promote-with-rows.ts does it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { MetadataContext } from '../../context.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { mapUniqueViolation, type Transaction } from '../../transaction.ts';
import { findRecipients } from '../approval-mails.ts';
import { answerEnd, promoteWithRows } from './promote-with-rows.ts';
import { compareLocked, type People, type PromoteInput, taken } from './promotion-comparison.ts';
import { endPromoted } from './promotion-finish.ts';
import { actorOf } from './promotion-rights.ts';
import { requireVisibleRows } from './promotion-row-visibility.ts';
import type { Promotion } from './promotion-schema.ts';
import { writePlan } from './promotion-write.ts';
import {
  allowStep,
  getPromotion,
  mailPromotion,
  requirePromotion,
  type StoredPromotion,
  showPromotion,
} from './promotions.ts';

/** Merges a promotion into its target branch and answers it promoted; what stands in the way is 422. */
export async function promote(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => PromoteInput,
): Promise<Promotion> {
  const before = await requirePromotion(ctx, call, id);
  const held = await ctx.rights.get(call, { fresh: true });
  const actor = await actorOf(ctx, call, before, held);
  const isRunning = before.status === 'promoting';
  // Its outcome was found after a crash, so whoever asked for it may ask again and is answered as if nothing had happened.
  const isUnacknowledged = before.status === 'promoted' && before.was_resumed;
  allowStep(isRunning || isUnacknowledged ? { ...before, status: 'failed' } : before, 'promote', actor);
  if (before.include_data) await requireVisibleRows(ctx, call, before);
  const input = readBody();
  if (isUnacknowledged) return getPromotion(ctx, call, id);
  if (isRunning) return answerEnd(ctx, call, id);
  const subject = { branchId: before.to_branch_id, creatorId: before.created_by };
  const people = { held, creator: await findRecipients(ctx, call, 'decided', subject) };
  if (before.include_data) return promoteWithRows(ctx, call, before, people, input);
  const refusal = await mapUniqueViolation(taken, () =>
    transactOnce(
      ctx,
      call,
      (tx) => attempt(tx, call, before, people, input),
      (refused) => (refused ? undefined : id),
    ),
  );
  if (refusal) throw refusal;
  return getPromotion(ctx, call, id);
}

/** Waits for what this very call has begun, and answers how it ended. */
export async function answerOwnPromotion(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  const { status } = await requirePromotion(ctx, call, id);
  return status === 'promoting' ? answerEnd(ctx, call, id) : showPromotion(ctx, call, id);
}

// A refusal that leaves something behind is answered, so that it commits; any other is thrown.
async function attempt(
  tx: Transaction,
  call: CallContext,
  before: StoredPromotion,
  people: People,
  input: PromoteInput,
): Promise<ServiceError | undefined> {
  const compared = await compareLocked(tx, call, before, people, input);
  if (compared instanceof ServiceError) return compared;
  const { now, plan, approvedBy } = compared;
  await writePlan(tx, call, now, plan.tables);
  await endPromoted(tx, call, now, plan, { approved_by: approvedBy });
  await mailPromotion(tx, call, people.creator, now, plan, { comment: null, outcome: 'promoted', reasons: [] });
  return undefined;
}
