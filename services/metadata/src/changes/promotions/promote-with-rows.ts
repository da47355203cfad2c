// Promoting definitions together with rows: noted first (`promoting`, with what was asked for), then the rows are merged by data under
// an id of their own, then the definitions are written. Whoever finds one left behind takes it up: data merges the same id once.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { releaseKey, transactOnce } from '../../requests/idempotency.ts';
import { callerFor, noRequester } from '../../requests/requester.ts';
import { mapUniqueViolation, type Transaction, transact } from '../../transaction.ts';
import { findRecipients, type Recipients } from '../approval-mails.ts';
import { holdLease, releaseLease, renewLease } from '../attempt-lease.ts';
import { violationsOf } from '../table-diff.ts';
import { lockBranches } from './comparison/branch-sides.ts';
import { decideBy, type GivenResolution } from './comparison/conflict-resolutions.ts';
import { isAboutRows } from './comparison/row-conflicts.ts';
import { compareLocked, idsOf, type People, type PromoteInput, taken } from './promotion-comparison.ts';
import { endFailed, endPromoted } from './promotion-finish.ts';
import { askToMergeRows, type RowsOutcome, recordFirstRows } from './promotion-rows.ts';
import type { MergedRows, Promotion } from './promotion-schema.ts';
import { writePlan } from './promotion-write.ts';
import {
  getPromotion,
  lockPromotion,
  mailPromotion,
  planStored,
  requirePromotion,
  type StoredPromotion,
} from './promotions.ts';

const pollMs = 200;
const maxTries = 5;

/** What the running attempt was asked for, as it is kept. `status`: what the promotion goes back to when rows are unresolved. */
type Asked = { resolutions: GivenResolution[]; revision: string; status: string };
/** `tries`: how often it was taken up before without an outcome. */
type Attempt = { id: number; number: number; asked: Asked; tries: number };

/** Promotes definitions and rows; what stands in the way is 422. */
export async function promoteWithRows(
  ctx: MetadataContext,
  call: CallContext,
  before: StoredPromotion,
  people: People,
  input: PromoteInput,
): Promise<Promotion> {
  const begun = await transactOnce(
    ctx,
    call,
    (tx) => begin(tx, ctx, call, before, people, input),
    (made) => (made instanceof ServiceError ? undefined : before.id),
  );
  if (begun instanceof ServiceError) throw begun;
  const refusal = await apply(ctx, call, begun, false);
  if (refusal === undefined) return answerEnd(ctx, call, before.id);
  await releaseKey(ctx, call);
  throw refusal;
}

async function begin(
  tx: Transaction,
  ctx: MetadataContext,
  call: CallContext,
  before: StoredPromotion,
  people: People,
  input: PromoteInput,
): Promise<Attempt | ServiceError> {
  const aboutDefinitions = { ...input, resolutions: input.resolutions?.filter((each) => !isAboutRows(each)) };
  const compared = await compareLocked(tx, call, before, people, aboutDefinitions);
  if (compared instanceof ServiceError) return compared;
  const { now, revision, approvedBy } = compared;
  const asked: Asked = { resolutions: input.resolutions ?? [], revision, status: now.status };
  const number = now.attempt + 1;
  await tx.promotion.update({
    where: { id: now.id },
    data: {
      status: 'promoting',
      attempt: number,
      asked: asked as unknown as Prisma.InputJsonValue,
      error: null,
      promoted_by: call.userId ?? null,
      approved_by: approvedBy,
      was_resumed: false,
      tries: 0,
    },
  });
  await renewLease(tx, ctx, 'promotion', { id: now.id, number });
  return { id: now.id, number, asked, tries: 0 };
}

/** Merges and ends an attempt, if it comes to an end: answers why nothing was promoted, undefined when it was or isn't known. */
async function apply(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  isResumed: boolean,
): Promise<ServiceError | undefined> {
  const stopRenewing = holdLease(ctx, 'promotion', attempt);
  try {
    const outcome = await merge(ctx, caller, attempt);
    if (outcome.status === 'merged') return await finish(ctx, caller, attempt, outcome.rows, isResumed);
    if (outcome.violations.length === 0) return await undo(ctx, caller, attempt, outcome.unsettled);
    const reasons = outcome.violations.map(
      ({ table, message, rows }) =>
        `${table}: ${message}${rows > 0 ? ` (${rows} ${rows === 1 ? 'row' : 'rows'})` : ''}`,
    );
    return await fail(ctx, caller, attempt, { reasons: [...reasons, ...outcome.unsettled], was_resumed: isResumed });
  } catch (error) {
    const isOver = error instanceof ServiceError && (error.status < 500 || attempt.tries >= maxTries);
    if (isOver && error.kind !== 'unavailable')
      return fail(ctx, caller, attempt, {
        reasons: error.status < 500 ? error.errors : ['The rows could not be merged; try again.'],
        was_resumed: isResumed,
      });
    ctx.logger.warn({ err: error, promotion_id: attempt.id }, 'how a promotion of rows ended is not known yet');
    await releaseLease(ctx, 'promotion', attempt, Math.min(attempt.tries, 10));
    return undefined;
  } finally {
    stopRenewing();
  }
}

async function merge(ctx: MetadataContext, caller: RpcCaller, { id, number, asked }: Attempt): Promise<RowsOutcome> {
  const { tables } = await requirePromotion(ctx, caller, id);
  return askToMergeRows(ctx, caller, {
    mergeId: `metadata-${id}-${number}`,
    pairs: tables.map(({ table_definition_id, target_definition_id, name }) => ({
      sourceId: table_definition_id,
      targetId: target_definition_id,
      name,
    })),
    resolutions: asked.resolutions,
    rehearsal: false,
  });
}

const rowsAreMerged = 'Its rows are merged; look at the diffs as they are now, then promote them.';

// The rows are merged and can't be unmerged: what keeps the definitions from following is said, and promoting again goes on from here.
async function finish(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  rows: MergedRows[],
  isResumed: boolean,
): Promise<ServiceError | undefined> {
  const facts = { rows, was_resumed: isResumed };
  try {
    const reasons = await mapUniqueViolation(taken, () =>
      ended(ctx, caller, attempt, async (tx, now, creator) => {
        const { asked } = attempt;
        const { plan, revision } = await planStored(tx, caller, now, decideBy(asked.resolutions));
        if (revision !== asked.revision) return ['The definitions have changed meanwhile.'];
        const blockers = violationsOf(plan.tables.map(({ diff }) => diff));
        if (blockers.length > 0) return blockers.map(({ table, message }) => `${table}: ${message}`);
        await writePlan(tx, { branching: true, ...caller }, now, plan.tables);
        await recordFirstRows(tx, caller, now, idsOf(now));
        await endPromoted(tx, caller, now, plan, { approved_by: now.approved_by, ...facts });
        await mailPromotion(tx, caller, creator, now, plan, { comment: null, outcome: 'promoted', reasons: [] });
        return undefined;
      }),
    );
    return reasons && fail(ctx, caller, attempt, { reasons: [...reasons, rowsAreMerged], ...facts });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return fail(ctx, caller, attempt, { reasons: [...error.errors, rowsAreMerged], ...facts });
  }
}

/** Runs the last step of an attempt, locked, if nobody else has taken it. */
async function ended<T>(
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
  await ended(ctx, caller, attempt, async (tx, now, creator) => {
    const { plan } = await planStored(tx, caller, now, decideBy(attempt.asked.resolutions));
    await endFailed(tx, caller, now, plan, failure);
    const { reasons } = failure;
    await mailPromotion(tx, caller, creator, now, plan, { comment: null, outcome: 'failed', reasons });
  });
  return validationFailed(failure.reasons);
}

// Conflicts are no failure: the promotion is as it was, and waits for decisions.
async function undo(
  ctx: MetadataContext,
  caller: RpcCaller,
  attempt: Attempt,
  unsettled: string[],
): Promise<ServiceError> {
  await ended(ctx, caller, attempt, async (tx, now) => {
    const data = { status: attempt.asked.status, promoted_by: null, approved_by: null, lease_until: null };
    await tx.promotion.update({ where: { id: now.id }, data: { ...data, asked: Prisma.DbNull } });
    const last = await tx.promotion_action.findFirst({
      where: { promotion_id: now.id, action: 'promote' },
      orderBy: { id: 'desc' },
      select: { id: true },
    });
    if (last) await tx.promotion_action.delete({ where: { id: last.id } });
  });
  return validationFailed(unsettled);
}

type Claimed = {
  account_id: number;
  attempt: number;
  asked: Asked;
  tries: number;
};

/** Takes up a promotion of rows that nobody works on. Does nothing while somebody holds its lease. */
export async function resumePromotion(ctx: MetadataContext, id: number): Promise<void> {
  const [claimed] = await ctx.prisma.$queryRaw<Claimed[]>`
    update promotion set lease_until = now() + make_interval(secs => ${ctx.timing.leaseMs / 1000}::float8), tries = tries + 1
    where id = ${id} and status = 'promoting' and lease_until <= now()
    returning account_id, attempt, asked, tries`;
  if (!claimed) return;
  const { account_id: accountId, tries, asked } = claimed;
  ctx.logger.info({ promotion_id: id, tries }, 'taking up a promotion that was left behind');
  const begun = await ctx.prisma.promotion_action.findFirst({
    where: { promotion_id: id, action: 'promote' },
    orderBy: { id: 'desc' },
  });
  const attempt: Attempt = { id, number: claimed.attempt, asked, tries };
  await apply(ctx, callerFor(accountId, begun ?? noRequester), attempt, true);
}

/** Ends promotions left behind that nobody has ended yet. */
export async function listLeftPromotions(ctx: MetadataContext, most: number): Promise<number[]> {
  const left = await ctx.prisma.$queryRaw<{ id: number }[]>`
    select id from promotion where status = 'promoting' and lease_until <= now() order by lease_until limit ${most}::int`;
  return left.map(({ id }) => id);
}

/** Waits, within bounds, for a promotion that is being promoted: answers it, 422 with the reasons, or 503 while it goes on. */
export async function answerEnd(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  const deadline = Date.now() + ctx.timing.waitMs;
  for (;;) {
    const { status, error } = await requirePromotion(ctx, call, id);
    if (status === 'promoted') return getPromotion(ctx, call, id);
    if (status === 'failed') throw validationFailed((error ?? 'Promotion failed').split('\n'));
    if (status !== 'promoting')
      throw new ServiceError('wrong_state', `Promotion is ${status}: conflicts of rows are undecided; rehearse it.`);
    if (Date.now() >= deadline)
      throw new ServiceError('unavailable', `Promotion ${id} is still being merged; ask again.`);
    await resumePromotion(ctx, id).catch((failure) =>
      ctx.logger.warn({ err: failure, promotion_id: id }, 'a promotion could not be taken up'),
    );
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
