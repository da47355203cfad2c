// The rights on a promotion: the roles of a user in it, the steps they may
// take, and the right to see its rows.
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { notFound, type ServiceError } from '@almanac/service-kit/errors';
import { allows, type HeldRights, isKnown, refusal, type Where } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import { type Allowed, findHeld } from '../../rights/allowed-actions.ts';
import type { Actor } from '../approval-states.ts';
import { judgeSteps } from '../change-actions.ts';
import { actorWith } from '../change-kind.ts';
import type { Branches } from './comparison/branch-sides.ts';
import type { TablePair } from './comparison/promotion-plan.ts';
import type { PromotionSummary } from './promotion-schema.ts';
import { promotionMachine } from './promotion-states.ts';

type Promoted = {
  created_by: number | null;
  from_branch_id: number;
  to_branch_id: number;
  tables: { table_definition_id: number; target_definition_id: number | null; domain_id: number }[];
};

/**
 * The roles of the caller by rights that identity answers now: approval never rests on cached ones.
 */
export async function actorOf(
  ctx: MetadataContext,
  call: CallContext,
  promotion: Promoted,
  held?: HeldRights,
): Promise<Actor> {
  const places = await placesOf(ctx, call, promotion.tables);
  const now = held ?? (await ctx.rights.get(call, { fresh: true }));
  const branchId = promotion.to_branch_id;
  if (!places.some(({ targetId }) => isKnown(now, { branchId, tableDefinitionId: targetId ?? undefined })))
    throw notFound('Promotion');
  return actorAt(now, call, promotion, places);
}

// Where the tables of promotions are: in the domains of both sides and in the stored one.
async function placesOf(ctx: MetadataContext, call: CallContext, tables: Promoted['tables']): Promise<Place[]> {
  const ids = tables.flatMap(({ table_definition_id, target_definition_id }) => [
    table_definition_id,
    target_definition_id ?? 0,
  ]);
  const definitions = await ctx.prisma.table_definition.findMany({
    where: { id: { in: ids }, account_id: call.accountId },
    select: { id: true, domain_id: true },
  });
  const domains = new Map(definitions.map(({ id, domain_id }) => [id, domain_id]));
  return tables.map(({ table_definition_id, target_definition_id, domain_id }) => ({
    targetId: target_definition_id,
    domainIds: [
      domain_id,
      domains.get(table_definition_id) ?? domain_id,
      domains.get(target_definition_id ?? 0) ?? domain_id,
    ],
  }));
}

/** The roles of the caller by the locked tables: those that are stored may be out of date. */
export function actorOfLocked(held: HeldRights, call: CallContext, promotion: Promoted, pairs: TablePair[]): Actor {
  const stored = new Map(promotion.tables.map((table) => [table.table_definition_id, table.domain_id]));
  const places = pairs.map(({ sourceId, targetId, source, target }) => {
    const domainIds = [source, target].flatMap((side) => (side ? [side.domain_id] : []));
    return { targetId, domainIds: domainIds.length > 0 ? domainIds : [stored.get(sourceId) as number] };
  });
  return actorAt(held, call, promotion, places);
}

type Place = { targetId: number | null; domainIds: number[] };

function actorAt(
  held: HeldRights,
  call: CallContext,
  { created_by, to_branch_id: branchId }: Pick<Promoted, 'created_by' | 'to_branch_id'>,
  places: Place[],
): Actor {
  // A table that moves to another domain needs the right in both, as when a user moves it.
  const developer = places.every(({ targetId, domainIds }) =>
    domainIds.every((domainId) =>
      allows(held, 'develop', { branchId, domainId, tableDefinitionId: targetId ?? undefined }),
    ),
  );
  return actorWith(held, call, { created_by, branchId }, developer);
}

/**
 * Throws 403 unless the caller may see the rows that a promotion merges: they need `view` on the
 * source branch, where the rows come from, or `approve` on the target branch.
 */
export async function requireVisibleRows(
  ctx: MetadataContext,
  call: CallContext,
  { from_branch_id, to_branch_id, tables }: Promoted,
): Promise<void> {
  const held = await ctx.rights.get(call);
  if (allows(held, 'approve', { branchId: to_branch_id })) return;
  const definitions = await ctx.prisma.table_definition.findMany({
    where: { account_id: call.accountId, id: { in: tables.map(({ table_definition_id }) => table_definition_id) } },
    select: { id: true, domain_id: true },
  });
  for (const { id, domain_id } of definitions) {
    const place = { tableDefinitionId: id, domainId: domain_id, branchId: from_branch_id };
    if (!allows(held, 'view', place)) throw refusal(held, 'view', place, () => notFound('Promotion'));
  }
}

/** A table on both branches, by what its rows are seen by. */
type RowPlaces = Pick<TablePair, 'sourceId' | 'targetId'> & {
  source?: { domain_id: number } | undefined;
  target?: { domain_id: number } | undefined;
};

/**
 * The tables whose rows on both branches the caller sees, or 403 when there are none.
 */
export async function findVisiblePairs(
  ctx: MetadataContext,
  call: CallContext,
  branches: Branches,
  pairs: TablePair[],
): Promise<TablePair[]> {
  const { seen, refuse } = await splitByVisibleRows(ctx, call, branches, pairs);
  if (seen.length === 0 && refuse) throw refuse();
  return seen;
}

/**
 * `seen`: the tables whose rows on both branches the caller sees: every one with `approve` on the
 * target branch, else those whose rows they may view on both. `refuse` tells why others are not.
 */
export async function splitByVisibleRows<Pair extends RowPlaces>(
  ctx: MetadataContext,
  call: CallContext,
  { from_branch_id, to_branch_id }: Branches,
  pairs: Pair[],
): Promise<{ seen: Pair[]; refuse?: () => ServiceError }> {
  const held = await findHeld(ctx, call);
  if (!held || allows(held, 'approve', { branchId: to_branch_id })) return { seen: pairs };
  // Rows are in the domain of the deployed table: a draft may have moved since.
  const deployed = await ctx.prisma.deployed_table_definition.findMany({
    where: {
      account_id: call.accountId,
      id: { in: pairs.flatMap(({ sourceId, targetId }) => [sourceId, targetId ?? 0]) },
    },
    select: { id: true, domain_id: true },
  });
  const domains = new Map(deployed.map(({ id, domain_id }) => [id, domain_id]));
  const placesOfRows = ({ sourceId, targetId, source, target }: RowPlaces): Where[] => {
    const domainId = domains.get(sourceId) ?? (source ?? target)?.domain_id;
    const onTarget = domains.get(targetId ?? 0) ?? (target ?? source)?.domain_id;
    return [
      { tableDefinitionId: sourceId, domainId, branchId: from_branch_id },
      { tableDefinitionId: targetId ?? undefined, domainId: onTarget, branchId: to_branch_id },
    ];
  };
  const seen = pairs.filter((pair) => placesOfRows(pair).every((place) => allows(held, 'view', place)));
  const [hidden] = pairs.flatMap(placesOfRows).filter((place) => !allows(held, 'view', place));
  return { seen, ...(hidden && { refuse: () => refusal(held, 'view', hidden, () => notFound('Promotion')) }) };
}

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
