// Promotions: which definitions are merged from one branch into another, who proposed and who
// approved that, and how it ended (design 3.6). promotion-proposal.ts makes them, promote.ts
// applies them, promotion-states.ts says which step may follow which.

import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { type BranchReference, branchReferenceFields } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { lockRow, type Transaction } from '../../transaction.ts';
import {
  definitionMails,
  diffContents,
  type MailContents,
  type MailFacts,
  type Recipients,
  requestMails,
} from '../approval-mails.ts';
import { isOpen } from '../approval-states.ts';
import { listHistory } from '../change-history.ts';
import type { ChangeKind, StoredStep } from '../change-kind.ts';
import { isSourceHidden, requireVisibleChange, visiblePromotions } from '../change-visibility.ts';
import { type Revision, type RowRevisions, recordReviewed, shownRevision } from '../reviewed-revisions.ts';
import type { PromotionDiff } from './comparison/comparison-schema.ts';
import type { PromotionPlan } from './comparison/promotion-plan.ts';
import type { Conflict } from './comparison/table-merge.ts';
import { type Comparison, compare, compareSnapshot, reviewedRevision } from './promotion-comparison.ts';
import { actorOf } from './promotion-rights.ts';
import type { Promotion, PromotionSummary } from './promotion-schema.ts';
import { type PromotionState, promotionMachine } from './promotion-states.ts';
import { storedTable, storeRevision } from './promotion-tables.ts';
import { readRowRevisions } from './rows/merged-rows.ts';
import type { MergedRows, RowCounts } from './rows/rows-schema.ts';

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
  row_counts: true,
  created_at: true,
  updated_at: true,
  promoted_at: true,
  to_branch: { select: branchReferenceFields },
  tables: { orderBy: { table_definition_id: 'asc' } },
} as const satisfies Prisma.promotionSelect;
type StoredSummary = Prisma.promotionGetPayload<{ select: typeof summaryFields }>;

// `diffs` and `conflicts` may be megabytes, so lists do not read them.
const storedFields = {
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
  const visible = await visiblePromotions(ctx, call);
  const where = { account_id: call.accountId, ...filter, ...prismaWhere(list.conditions), ...visible };
  const [stored, total] = await Promise.all([
    ctx.prisma.promotion.findMany({ where, select: summaryFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.promotion.count({ where }),
  ]);
  return page(await summarize(ctx, call, stored), list, total);
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

/** A promotion of the account, locked until the transaction ends, or 404. */
export async function lockPromotion(tx: Transaction, call: RpcCaller, id: number): Promise<StoredPromotion> {
  if (!(await lockRow(tx, 'promotion', call.accountId, id))) throw notFound('Promotion');
  return tx.promotion.findUniqueOrThrow({ where: { id }, select: storedFields });
}

/** The ids of the definitions that a promotion names. */
export const idsOf = ({ tables }: StoredPromotion): number[] =>
  tables.map(({ table_definition_id }) => table_definition_id);

type Visible = { stored: StoredPromotion; comparison: Comparison | undefined };

/**
 * A promotion that the caller sees, or 403 or 404. While it can still be promoted, that is decided
 * by the tables that it would change now, which are answered as its `comparison`.
 */
export async function requireVisiblePromotion(ctx: MetadataContext, call: CallContext, id: number): Promise<Visible> {
  const stored = await requirePromotion(ctx, call, id);
  if (await isSourceHidden(ctx, call, stored)) throw notFound('Promotion');
  const comparison = isOpen(promotionMachine, stored.status) ? await compareSnapshot(ctx, call, stored) : undefined;
  const now = new Map(comparison?.pairs.map((pair) => [pair.sourceId, storedTable(pair)]));
  const tables = stored.tables.map((table) => {
    const { target_definition_id: id, domain_id } = now.get(table.table_definition_id) ?? table;
    return { id, domain_id: domain_id ?? table.domain_id };
  });
  await requireVisibleChange(ctx, call, 'promotion', { branchId: stored.to_branch_id, tables });
  return { stored, comparison };
}

/** A promotion that the caller sees, with its history and what it would change. */
export async function showPromotion(ctx: MetadataContext, call: CallContext, id: number): Promise<Promotion> {
  const { comparison } = await requireVisiblePromotion(ctx, call, id);
  return getPromotion(ctx, call, id, comparison);
}

/**
 * One promotion with its history and diffs. While it can still be promoted, the diffs are those of
 * the branches as they are now, and recorded as shown to the caller; afterwards, those that were
 * merged. `comparison`: made a moment ago.
 */
export async function getPromotion(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  comparison?: Comparison,
): Promise<Promotion> {
  const stored = await requirePromotion(ctx, call, id);
  const actions = await listHistory(ctx.prisma, 'promotion', id);
  const { account_id: _a, diffs, conflicts, revision: _b, attempt: _c, was_resumed: _d, ...summarized } = stored;
  const [summary] = await summarize(ctx, call, [summarized]);
  const shown = { ...(summary as PromotionSummary), actions };
  if (!isOpen(promotionMachine, stored.status))
    return {
      ...shown,
      diffs: (diffs ?? []) as PromotionDiff[],
      conflicts: (conflicts ?? []) as Conflict[],
      revision: null,
    };
  const now = comparison ?? (await compareSnapshot(ctx, call, stored));
  const rows = stored.include_data ? await findRowRevisions(ctx, call, id, now) : undefined;
  const revision = reviewedRevision(now, rows);
  await recordReviewedPromotion(ctx, call, stored, revision);
  const { tables, conflicts: open } = now.plan;
  const isNamed = rows !== undefined || !stored.include_data;
  return {
    ...shown,
    diffs: tables.map(({ diff }) => diff),
    conflicts: open,
    revision: isNamed ? shownRevision(revision) : null,
  };
}

// A promotion can be looked at and promoted without data's answer; only its rows have no name then.
async function findRowRevisions(
  ctx: MetadataContext,
  call: CallContext,
  promotionId: number,
  { pairs }: Comparison,
): Promise<RowRevisions | undefined> {
  try {
    return await readRowRevisions(ctx, call, { promotionId, pairs });
  } catch (error) {
    ctx.logger.warn({ err: error }, 'the rows of a promotion could not be read');
    return undefined;
  }
}

/** Records that the caller is shown this revision. */
export function recordReviewedPromotion(
  ctx: MetadataContext,
  call: CallContext,
  { id, to_branch }: StoredPromotion,
  revision: Revision,
): Promise<void> {
  return recordReviewed(ctx, call, promotionMachine, { id, branch: to_branch }, revision);
}

async function summarize(
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
  return stored.map(({ rows, row_counts, tables, status, to_branch, ...promotion }) => ({
    ...promotion,
    rows: rows as MergedRows[] | null,
    row_counts: row_counts as RowCounts | null,
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

async function storeStep(
  tx: Transaction,
  call: CallContext,
  promotion: StoredPromotion,
  { action, status, comment }: StoredStep,
): Promise<MailContents> {
  const { id } = promotion;
  await tx.promotion.update({ where: { id }, data: { status, comment: comment ?? undefined } });
  const comparison = await compare(tx, call, promotion);
  // Approval is requested for the branches as they are now, not for the proposal.
  if (action === 'send_request') await storeRevision(tx, id, comparison);
  return diffContents(comparison.plan.tables.map(({ diff }) => diff));
}

async function branchNames(tx: Transaction, call: RpcCaller, { from_branch_id, to_branch }: StoredPromotion) {
  const where = { id: from_branch_id, account_id: call.accountId };
  const from = await tx.branch.findFirst({ where, select: { name: true } });
  return { branch: to_branch.name, ...(from ? { from_branch: from.name } : {}) };
}

/** Requests the mails about the outcome of a promotion. */
export async function mailOutcome(
  tx: Transaction,
  call: RpcCaller,
  recipients: Recipients,
  promotion: StoredPromotion,
  { tables }: PromotionPlan,
  outcome: Required<Pick<MailFacts, 'outcome' | 'reasons'>>,
): Promise<void> {
  const names = await branchNames(tx, call, promotion);
  const contents = diffContents(tables.map(({ diff }) => diff));
  const facts = { noun: 'promotion', id: promotion.id, ...names, comment: null, contents, ...outcome } as const;
  await requestMails(tx, call, recipients, facts);
}

/** Promotions as a kind of change. */
export const promotions: ChangeKind<StoredPromotion, Comparison, Promotion> = {
  machine: promotionMachine,
  mails: definitionMails,
  branchOf: ({ to_branch }) => to_branch,
  isGuarded: ({ to_branch }) => to_branch.is_protected,
  branchIds: ({ from_branch_id, to_branch_id }) => ({ from_branch_id, to_branch_id }),
  branchNames,
  require: requirePromotion,
  lock: lockPromotion,
  actorOf,
  storeStep,
  get: getPromotion,
  show: showPromotion,
};
