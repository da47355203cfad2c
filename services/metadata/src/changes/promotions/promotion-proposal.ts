// Proposing promotions.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { allows, type HeldRights, refusal, type Where } from '@almanac/service-kit/rights/rights';
import { requireBranch } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { requesterOf } from '../../requests/requester.ts';
import { placeOf } from '../../rights/place.ts';
import { readSnapshot, type Transaction } from '../../transaction.ts';
import { announceChange } from '../change-events.ts';
import type { Branches } from './comparison/branch-sides.ts';
import type { TablePair } from './comparison/promotion-plan.ts';
import { compareSides, readSides } from './promotion-comparison.ts';
import type { Promotion } from './promotion-schema.ts';
import { promotionMachine } from './promotion-states.ts';
import { storedTable } from './promotion-tables.ts';
import { getPromotion } from './promotions.ts';

/** A definition on the source branch, or one that was deleted there. */
type Source = { id: number; key: string; name: string; domain_id: number; branch_id: number };

/** Proposes to merge definitions of one branch into another, and shows what that would do. */
export async function createPromotion(
  ctx: MetadataContext,
  call: CallContext,
  branches: Branches,
  { tableIds, includeData }: { tableIds: number[]; includeData: boolean },
): Promise<Promotion> {
  const from = await requireBranch(ctx, call, branches.from_branch_id);
  const to = await requireBranch(ctx, call, branches.to_branch_id);
  const ids = [...new Set(tableIds)].sort((a, b) => a - b);
  const sources = await findSources(ctx, call, ids);
  if (sources.length < ids.length) throw notFound('Table definition');
  const tables = sources.map(({ id, key, name, domain_id }) => ({ table_definition_id: id, key, name, domain_id }));
  const sides = await readSnapshot(ctx, (tx) => readSides(tx, call, { ...branches, to_branch: to, tables }));
  const { pairs } = sides;
  requireProposer(await ctx.rights.get(call), branches, sources, pairs);
  if (branches.from_branch_id === branches.to_branch_id)
    throw validationFailed({
      code: 'incompatible',
      message: 'A branch can be promoted to another one only',
      field: 'to_branch_id',
    });
  requireOnSource(from.name, branches, sources, pairs);
  const comparison = compareSides(sides);
  const proposed = { ...branches, include_data: includeData, revision: comparison.revision };
  const insert = (tx: Transaction) => insertPromotion(tx, call, proposed, tables, pairs);
  const id = await transactOnce(ctx, call, insert, (made) => made);
  return getPromotion(ctx, call, id, comparison);
}

async function findSources(ctx: MetadataContext, call: CallContext, ids: number[]): Promise<Source[]> {
  const where = { id: { in: ids }, account_id: call.accountId };
  const select = { id: true, key: true, name: true, domain_id: true, branch_id: true };
  const [present, deleted] = await Promise.all([
    ctx.prisma.table_definition.findMany({ where, select }),
    ctx.prisma.deleted_table_definition.findMany({ where, select }),
  ]);
  // In the order in which answers list them.
  return [...present, ...deleted].sort((a, b) => a.id - b.id);
}

// Developers of either side may propose, if they see both: what is merged and what it is merged
// into.
function requireProposer(held: HeldRights, { to_branch_id }: Branches, sources: Source[], pairs: TablePair[]): void {
  const pairOf = new Map(pairs.map((pair) => [pair.sourceId, pair]));
  const places = sources.map((source) => {
    const { target, targetId } = pairOf.get(source.id) as TablePair;
    const onTarget: Where = {
      tableDefinitionId: targetId ?? undefined,
      domainId: target?.domain_id ?? source.domain_id,
      branchId: to_branch_id,
    };
    return { onSource: placeOf(source), onTarget };
  });
  for (const place of places.flatMap(({ onSource, onTarget }) => [onSource, onTarget]))
    if (!allows(held, 'view', place) && !allows(held, 'approve', { branchId: place.branchId }))
      throw refusal(held, 'view', place);
  const isDeveloper = (side: 'onSource' | 'onTarget') => places.every((place) => allows(held, 'develop', place[side]));
  if (!isDeveloper('onSource') && !isDeveloper('onTarget'))
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'You need the right "develop" on every table on one of the two branches.',
    });
}

function requireOnSource(branchName: string, branches: Branches, sources: Source[], pairs: TablePair[]): void {
  const elsewhere = sources.filter(({ branch_id }) => branch_id !== branches.from_branch_id);
  const isElsewhere = new Set(elsewhere.map(({ id }) => id));
  const lost = pairs.filter(({ sourceId, isLost }) => isLost && !isElsewhere.has(sourceId));
  const nowhere = pairs.filter(({ isLost, source, target }) => !isLost && !source && !target);
  const problem = (id: number, what: string): Problem => ({
    code: 'invalid_reference',
    message: `Table definition ${id} ${what}`,
    field: 'table_definition_ids',
    params: { table_definition_id: id },
  });
  const problems = [
    ...elsewhere.map(({ id }) => problem(id, `is not on the branch ${branchName}`)),
    ...lost.map(({ sourceId: id }) => problem(id, 'has been deleted, and another one has taken its place')),
    ...nowhere.map(({ sourceId: id }) => problem(id, 'has been deleted, and is not on the target branch either')),
  ];
  if (problems.length > 0) throw validationFailed(problems);
}

type Table = { table_definition_id: number; key: string; name: string; domain_id: number };

async function insertPromotion(
  tx: Transaction,
  call: CallContext,
  { include_data, revision, ...branches }: Branches & { include_data: boolean; revision: string },
  tables: Table[],
  pairs: TablePair[],
): Promise<number> {
  const stored = new Map(pairs.map((pair) => [pair.sourceId, storedTable(pair)]));
  const named = tables.map((table) => {
    const facts = stored.get(table.table_definition_id);
    return { ...table, ...facts, domain_id: facts?.domain_id ?? table.domain_id };
  });
  const data = {
    account_id: call.accountId,
    ...branches,
    include_data,
    revision,
    created_by: call.userId ?? null,
    tables: { createMany: { data: named } },
    actions: { create: { action: 'create', ...requesterOf(call) } },
  };
  const { id } = await tx.promotion.create({ data, select: { id: true } });
  const table_definition_ids = tables.map((table) => table.table_definition_id);
  const event = { machine: promotionMachine, branchIds: () => branches };
  await announceChange(tx, call, event, { id }, 'create', { table_definition_ids });
  return id;
}
