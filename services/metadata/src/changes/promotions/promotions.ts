// Promotions: which definitions are merged from one branch into another, who asked, who agreed, and what became of it (design 3.6).
// What one would change is promotion-plan.ts, how it is promoted promote.ts; which step may follow which is promotion-states.ts.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { type BranchReference, branchReferenceFields } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { requesterOf } from '../../requests/requester.ts';
import { lockRow, readSnapshot, type Transaction } from '../../transaction.ts';
import { findRecipients, type MailFacts, mailOccasions, type Recipients, requestMails } from '../approval-mails.ts';
import { type Actor, decide, requireTransition } from '../approval-states.ts';
import { isSourceHidden, requireVisibleChange, visiblePromotions } from '../change-visibility.ts';
import { recordReviewed, type Shown } from '../reviewed-revisions.ts';
import { type Branches, type Named, readPairs, readTargetBranch, revisionOfPairs } from './comparison/branch-sides.ts';
import type { PromotionDiff } from './comparison/comparison-schema.ts';
import { type PromotionPlan, planPromotion, type TablePair, type TargetBranch } from './comparison/promotion-plan.ts';
import type { Conflict, Decide } from './comparison/table-merge.ts';
import { announcePromotion } from './promotion-events.ts';
import { actorOf } from './promotion-rights.ts';
import type { MergedRows, Promotion, PromotionSummary } from './promotion-schema.ts';
import { isOpen, type PromotionAction, type PromotionState, promotionMachine } from './promotion-states.ts';

const summaryFields = {
  id: true,
  from_branch_id: true,
  to_branch_id: true,
  status: true,
  created_by: true,
  approved_by: true,
  promoted_by: true,
  comment: true,
  error: true,
  include_data: true,
  rows: true,
  created_at: true,
  updated_at: true,
  promoted_at: true,
  to_branch: { select: branchReferenceFields },
  tables: { orderBy: { table_definition_id: 'asc' } },
} as const satisfies Prisma.promotionSelect;
type StoredSummary = Prisma.promotionGetPayload<{ select: typeof summaryFields }>;

// `diffs` and `conflicts` may be megabytes: no list reads them.
export const storedFields = {
  ...summaryFields,
  account_id: true,
  diffs: true,
  conflicts: true,
  revision: true,
  attempt: true,
  was_resumed: true,
} as const satisfies Prisma.promotionSelect;
export type StoredPromotion = Prisma.promotionGetPayload<{ select: typeof storedFields }>;

export const promotionFilters = {
  id: 'integer',
  from_branch_id: 'integer',
  to_branch_id: 'integer',
  status: 'text',
  include_data: 'boolean',
  created_by: 'integer?',
  approved_by: 'integer?',
  promoted_by: 'integer?',
  comment: 'text?',
  error: 'text?',
  created_at: 'time',
  updated_at: 'time',
  promoted_at: 'time?',
} as const;

/** Lists the promotions that the caller sees, each with its branches and tables. */
export async function listPromotions(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  filter: { from_branch_id?: number; to_branch_id?: number },
): Promise<Page<PromotionSummary>> {
  const seen = await visiblePromotions(ctx, call);
  const where = { account_id: call.accountId, ...filter, ...prismaWhere(list.conditions), ...seen };
  const [stored, total] = await Promise.all([
    ctx.prisma.promotion.findMany({ where, select: summaryFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.promotion.count({ where }),
  ]);
  return page(await summaries(ctx, call, stored), list, total);
}

/** A promotion of the account, or 404. */
export async function requirePromotion(
  ctx: MetadataContext,
  call: { accountId: number },
  id: number,
): Promise<StoredPromotion> {
  const where = { id, account_id: call.accountId };
  const promotion = await ctx.prisma.promotion.findFirst({ where, select: storedFields });
  if (!promotion) throw notFound('Promotion');
  return promotion;
}

type Seen = { stored: StoredPromotion; planned: PlannedPromotion | undefined };

/** A promotion that the caller sees, or 403: while it can still be promoted, by the tables that it would change as of now (`planned`). */
export async function requireVisiblePromotion(ctx: MetadataContext, call: CallContext, id: number): Promise<Seen> {
  const stored = await requirePromotion(ctx, call, id);
  if (await isSourceHidden(ctx, call, stored)) throw notFound('Promotion');
  const planned = isOpen(stored.status) ? await readSnapshot(ctx, (tx) => planStored(tx, call, stored)) : undefined;
  const now = new Map(planned?.pairs.map((pair) => [pair.sourceId, shownOf(pair)]));
  const tables = stored.tables.map((noted) => {
    const { target_definition_id: id, domain_id } = now.get(noted.table_definition_id) ?? noted;
    return { id, domain_id: domain_id ?? noted.domain_id };
  });
  await requireVisibleChange(ctx, call, 'promotion', { branchId: stored.to_branch_id, tables });
  return { stored, planned };
}

/** A promotion that the caller sees, with its history and what it would change. */
export async function showPromotion(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  const { planned } = await requireVisiblePromotion(ctx, call, id);
  return getPromotion(ctx, call, id, planned);
}

/**
 * One promotion with its history; what it would change is as of now while it can still be promoted, which is noted as shown to the
 * caller; as merged afterwards. `planned`: what it would change was read a moment ago.
 */
export async function getPromotion(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  planned?: PlannedPromotion,
): Promise<Promotion> {
  const stored = await requirePromotion(ctx, call, id);
  const actions = await ctx.prisma.promotion_action.findMany({ where: { promotion_id: id }, orderBy: { id: 'asc' } });
  const { account_id: _a, diffs, conflicts, revision: _b, attempt: _c, was_resumed: _d, ...summarized } = stored;
  const [summary] = await summaries(ctx, call, [summarized]);
  const shown = {
    ...(summary as PromotionSummary),
    actions: actions.map(({ action, user_id: user, comment, at, request_id }) => ({
      action,
      user,
      comment,
      at,
      request_id,
    })),
  };
  if (!isOpen(stored.status))
    return {
      ...shown,
      diffs: (diffs ?? []) as PromotionDiff[],
      conflicts: (conflicts ?? []) as Conflict[],
      revision: null,
    };
  const now = planned ?? (await readSnapshot(ctx, (tx) => planStored(tx, call, stored)));
  await recordReviewedPromotion(ctx, call, stored, now);
  const { plan, revision } = now;
  return { ...shown, diffs: plan.tables.map(({ diff }) => diff), conflicts: plan.conflicts, revision };
}

type Compared = { pairs: TablePair[]; revision: string };

/** What comparing was made of, as it is kept of what somebody was shown. */
export const shownBy = ({ pairs, revision }: Compared): Shown => ({
  revision,
  facts: pairs.map(({ sourceId, sourceVersion, targetId, targetVersion }) => [
    sourceId,
    sourceVersion,
    targetId,
    targetVersion,
  ]),
});

/** Notes that the caller is shown what a promotion would change. */
export function recordReviewedPromotion(
  ctx: MetadataContext,
  call: CallContext,
  { id, to_branch }: StoredPromotion,
  compared: Compared,
): Promise<void> {
  return recordReviewed(ctx, call, { noun: 'promotion', id, branch: to_branch }, shownBy(compared));
}

const unresolved: Decide = () => undefined;

/** What a promotion is of: its branches, and the definitions that were named. */
export type Proposed = Branches & { to_branch: { id: number; name: string }; tables: Named[] };
type Sides = { pairs: TablePair[]; branch: TargetBranch };
export type PlannedPromotion = { pairs: TablePair[]; plan: PromotionPlan; revision: string };

/** Both branches, as far as a promotion is about them. */
export async function readSides(tx: Transaction, call: { accountId: number }, proposed: Proposed): Promise<Sides> {
  const pairs = await readPairs(tx, call, proposed, proposed.tables);
  return { pairs, branch: await readTargetBranch(tx, call, proposed.to_branch, pairs) };
}

/** What a promotion would change. */
export function planSides({ pairs, branch }: Sides, decide = unresolved): PlannedPromotion {
  return { pairs, plan: planPromotion(pairs, branch, decide), revision: revisionOfPairs(pairs) };
}

/** What a promotion would change as of now. */
export async function planStored(
  tx: Transaction,
  call: { accountId: number },
  stored: Proposed,
  decide = unresolved,
): Promise<PlannedPromotion> {
  return planSides(await readSides(tx, call, stored), decide);
}

async function summaries(
  ctx: MetadataContext,
  call: CallContext,
  stored: StoredSummary[],
): Promise<PromotionSummary[]> {
  const tables = stored.flatMap((promotion) => promotion.tables);
  const ids = tables.flatMap(({ table_definition_id, target_definition_id }) => [
    table_definition_id,
    target_definition_id ?? 0,
  ]);
  const mine = { account_id: call.accountId };
  const [definitions, branches] = await Promise.all([
    ctx.prisma.table_definition.findMany({
      where: { ...mine, id: { in: [...new Set(ids)] } },
      select: { id: true, key: true, name: true, version: true },
    }),
    ctx.prisma.branch.findMany({
      where: { ...mine, id: { in: [...new Set(stored.map(({ from_branch_id }) => from_branch_id))] } },
      select: branchReferenceFields,
    }),
  ]);
  const now = new Map(definitions.map((definition) => [definition.id, definition]));
  const sources = new Map(branches.map((branch) => [branch.id, branch]));
  return stored.map(({ rows, tables, status, to_branch, ...promotion }) => ({
    ...promotion,
    rows: rows as MergedRows[] | null,
    status: status as PromotionState,
    from_branch: (sources.get(promotion.from_branch_id) ?? null) as PromotionSummary['from_branch'],
    to_branch: to_branch as BranchReference as PromotionSummary['to_branch'],
    table_definitions: tables.map(({ table_definition_id: id, target_definition_id, key, name }) => {
      const source = now.get(id);
      const target = target_definition_id === null ? undefined : now.get(target_definition_id);
      return {
        id,
        key,
        name: source?.name ?? name,
        version: source?.version ?? null,
        target_table_definition_id: target?.id ?? null,
        target_version: target?.version ?? null,
      };
    }),
  }));
}

/** Throws 403 or 422 unless the caller may do this to a promotion in this state; answers the state it leads to. */
export function allowStep(
  { status, to_branch }: StoredPromotion,
  action: PromotionAction,
  actor: Actor,
): PromotionState {
  return requireTransition(promotionMachine, status as PromotionState, action, actor, to_branch.is_protected);
}

/** The steps that change nothing but the promotion itself. */
export type Step = Exclude<PromotionAction, 'promote' | 'succeed' | 'fail'>;

/** Takes such a step. */
export async function takeStep(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  action: Step,
  readComment: () => string | null | undefined,
): Promise<Promotion> {
  const before = await requirePromotion(ctx, call, id);
  const actor = await actorOf(ctx, call, before);
  const first = decide(promotionMachine, before.status as PromotionState, action, actor, before.to_branch.is_protected);
  if (first.verdict === 'forbidden') throw new ServiceError('forbidden', first.sentence);
  const comment = readComment() ?? null;
  const recipients =
    action === 'cancel'
      ? undefined
      : await findRecipients(ctx, call, mailOccasions[action], {
          branchId: before.to_branch_id,
          creatorId: before.created_by,
        });
  const step = async (tx: Transaction) => {
    const now = await lockPromotion(tx, call, id);
    const status = allowStep(now, action, actor);
    await tx.promotion.update({ where: { id }, data: { status, comment: comment ?? undefined } });
    const { pairs, plan, revision } = await planStored(tx, call, now);
    // What is asked approval for is what is there now.
    if (action === 'send_request') await recordProposedState(tx, id, pairs, revision);
    await recordAction(tx, id, action, call, comment);
    await announcePromotion(tx, call, action, now, { user_id: call.userId ?? null, comment });
    const outcome = action === 'reject' ? { outcome: 'rejected' as const, reasons: [] } : {};
    if (recipients) await mailPromotion(tx, call, recipients, now, plan, { comment, ...outcome });
  };
  await transactOnce(ctx, call, step, () => id);
  return getPromotion(ctx, call, id);
}

/** Asks for the mails about a step of a promotion. */
export async function mailPromotion(
  tx: Transaction,
  call: RpcCaller,
  recipients: Recipients,
  { id, from_branch_id, to_branch }: StoredPromotion,
  { tables }: PromotionPlan,
  facts: Pick<MailFacts, 'comment' | 'outcome' | 'reasons'>,
): Promise<void> {
  const where = { id: from_branch_id, account_id: call.accountId };
  const from = await tx.branch.findFirst({ where, select: { name: true } });
  const diffs = tables.map(({ diff }) => diff);
  const branches = { branch: to_branch.name, ...(from ? { from_branch: from.name } : {}) };
  await requestMails(tx, call, recipients, { noun: 'promotion', id, ...branches, diffs, ...facts });
}

/** Locks a promotion until the transaction ends. */
export async function lockPromotion(tx: Transaction, call: RpcCaller, id: number): Promise<StoredPromotion> {
  if (!(await lockRow(tx, 'promotion', call.accountId, id))) throw notFound('Promotion');
  return tx.promotion.findUniqueOrThrow({ where: { id }, select: storedFields });
}

/** What is noted of a table when its diff is shown; `domain_id` null: it is on neither branch any more. */
export const shownOf = ({ sourceId, sourceVersion, targetId, targetVersion, target, source }: TablePair) => ({
  table_definition_id: sourceId,
  source_version: sourceVersion,
  target_definition_id: targetId,
  target_version: targetVersion,
  domain_id: (target ?? source)?.domain_id ?? null,
});

/** Notes what approval is asked for: who is shown nothing else promotes that. Or what was merged. */
export async function recordProposedState(
  tx: Transaction,
  id: number,
  pairs: TablePair[],
  revision: string,
): Promise<void> {
  await tx.promotion.update({ where: { id }, data: { revision } });
  const facts = pairs.map(shownOf);
  await tx.$executeRaw`
    update promotion_table p set source_version = f.source_version, target_definition_id = f.target_definition_id,
      target_version = f.target_version, domain_id = coalesce(f.domain_id, p.domain_id)
    from jsonb_to_recordset(${JSON.stringify(facts)}::jsonb) as f (table_definition_id int, source_version int,
      target_definition_id int, target_version int, domain_id int)
    where p.promotion_id = ${id} and p.table_definition_id = f.table_definition_id`;
}

/** Notes which tables a promotion is about to change, of what was asked for nothing else. */
export async function recordTargets(tx: Transaction, id: number, pairs: TablePair[]): Promise<void> {
  const facts = pairs.map(shownOf);
  await tx.$executeRaw`
    update promotion_table p set target_definition_id = f.target_definition_id, domain_id = coalesce(f.domain_id, p.domain_id)
    from jsonb_to_recordset(${JSON.stringify(facts)}::jsonb) as f (table_definition_id int, target_definition_id int, domain_id int)
    where p.promotion_id = ${id} and p.table_definition_id = f.table_definition_id
      and (p.target_definition_id, p.domain_id) is distinct from (f.target_definition_id, coalesce(f.domain_id, p.domain_id))`;
}

/** Keeps that something was done to a promotion, by whom and in which request. Nobody ends one: ends are of the request they come of. */
export async function recordAction(
  tx: Transaction,
  promotionId: number,
  action: PromotionAction,
  caller: RpcCaller,
  comment: string | null,
): Promise<void> {
  const asker = requesterOf(caller);
  const by = action === 'succeed' || action === 'fail' ? { request_id: asker.request_id } : asker;
  await tx.promotion_action.create({ data: { promotion_id: promotionId, action, ...by, comment } });
}
