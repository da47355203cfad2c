// Proposing a promotion: whose it may be, and of what.
import type { CallContext } from '@almanac/service-kit/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { allows, type HeldRights, missingRight, type Where } from '@almanac/service-kit/rights';
import { requireBranch } from '../branches.ts';
import type { Context } from '../context.ts';
import { transactOnce } from '../repeated-requests.ts';
import { placeOf } from '../table-definitions/table-definitions.ts';
import { readAtOnce, type Transaction } from '../transaction.ts';
import { type Branches, readPairs } from './branch-sides.ts';
import { tellPromotion } from './promotion-news.ts';
import type { TablePair } from './promotion-plan.ts';
import type { Promotion } from './promotion-schema.ts';
import { getPromotion, planStored, rememberShown } from './promotions.ts';

/** A definition on the source branch, or one that was deleted there. */
type Source = { id: number; key: string; name: string; domain_id: number; branch_id: number };

/** Proposes to merge definitions of one branch into another, and shows what that would do. */
export async function createPromotion(
  ctx: Context,
  call: CallContext,
  branches: Branches,
  { tableIds, includeData }: { tableIds: number[]; includeData: boolean },
): Promise<Promotion> {
  const from = await requireBranch(ctx, call, branches.from_branch_id);
  await requireBranch(ctx, call, branches.to_branch_id);
  const ids = [...new Set(tableIds)].sort((a, b) => a - b);
  const sources = await findSources(ctx, call, ids);
  if (sources.length < ids.length) throw notFound('Table definition');
  const tables = sources.map(({ id, key, name, domain_id }) => ({ table_definition_id: id, key, name, domain_id }));
  const pairs = await readAtOnce(ctx, (tx) => readPairs(tx, call, branches, tables));
  requireProposer(await ctx.rights.get(call), branches, sources, pairs);
  if (branches.from_branch_id === branches.to_branch_id)
    throw validationFailed('A branch can be promoted to another one only');
  refuseStrangers(from.name, branches, sources, pairs);
  const insert = (tx: Transaction) => insertPromotion(tx, call, { ...branches, include_data: includeData }, tables);
  const id = await transactOnce(ctx, call, insert, (made) => made);
  return getPromotion(ctx, call, id);
}

async function findSources(ctx: Context, call: CallContext, ids: number[]): Promise<Source[]> {
  const where = { id: { in: ids }, account_id: call.accountId };
  const select = { id: true, key: true, name: true, domain_id: true, branch_id: true };
  const [present, deleted] = await Promise.all([
    ctx.prisma.table_definition.findMany({ where, select }),
    ctx.prisma.deleted_table_definition.findMany({ where, select }),
  ]);
  return [...present, ...deleted];
}

// Who works on either side may propose, if he sees both: what is merged and what it is merged into.
function requireProposer(held: HeldRights, { to_branch_id }: Branches, sources: Source[], pairs: TablePair[]): void {
  const there = new Map(pairs.map((pair) => [pair.sourceId, pair]));
  const places = sources.map((source) => {
    const { target, targetId } = there.get(source.id) as TablePair;
    const onTarget: Where = {
      tableDefinitionId: targetId ?? undefined,
      domainId: target?.domain_id ?? source.domain_id,
      branchId: to_branch_id,
    };
    return { onSource: placeOf(source), onTarget };
  });
  for (const place of places.flatMap(({ onSource, onTarget }) => [onSource, onTarget]))
    if (!allows(held, 'view', place) && !allows(held, 'approve', { branchId: place.branchId }))
      throw missingRight('view', place);
  const isDeveloper = (side: 'onSource' | 'onTarget') => places.every((place) => allows(held, 'develop', place[side]));
  if (!isDeveloper('onSource') && !isDeveloper('onTarget'))
    throw new ServiceError('forbidden', 'You need the right "develop" on every table on one of the two branches.');
}

function refuseStrangers(branchName: string, branches: Branches, sources: Source[], pairs: TablePair[]): void {
  const elsewhere = sources.filter(({ branch_id }) => branch_id !== branches.from_branch_id);
  const isElsewhere = new Set(elsewhere.map(({ id }) => id));
  const lost = pairs.filter(({ sourceId, isLost }) => isLost && !isElsewhere.has(sourceId));
  const nowhere = pairs.filter(({ isLost, source, target }) => !isLost && !source && !target);
  const problems = [
    ...elsewhere.map(({ id }) => `Table definition ${id} is not on the branch ${branchName}`),
    ...lost.map(({ sourceId }) => `Table definition ${sourceId} has been deleted, and another one has taken its place`),
    ...nowhere.map(
      ({ sourceId }) => `Table definition ${sourceId} has been deleted, and is not on the target branch either`,
    ),
  ];
  if (problems.length > 0) throw validationFailed(problems);
}

type Table = { table_definition_id: number; key: string; name: string; domain_id: number };

async function insertPromotion(
  tx: Transaction,
  call: CallContext,
  { include_data, ...branches }: Branches & { include_data: boolean },
  tables: Table[],
): Promise<number> {
  const data = {
    account_id: call.accountId,
    ...branches,
    include_data,
    revision: '',
    created_by: call.userId ?? null,
    tables: { createMany: { data: tables } },
    actions: { create: { action: 'create', user_id: call.userId ?? null } },
  };
  const { id } = await tx.promotion.create({ data, select: { id: true } });
  const stored = await tx.promotion.findUniqueOrThrow({ where: { id }, include: { to_branch: true, tables: true } });
  const { pairs, revision } = await planStored(tx, call, stored);
  await rememberShown(tx, id, pairs, revision);
  const table_definition_ids = tables.map((table) => table.table_definition_id);
  await tellPromotion(tx, call, 'create', { id, ...branches }, { table_definition_ids });
  return id;
}
