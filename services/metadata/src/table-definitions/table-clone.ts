// Cloning a definition to another branch. The clone has the same key and lineage, its foreign keys
// point to the tables of the same key there, and the original is stored as the base of later
// three-way comparisons.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requireRight } from '@almanac/service-kit/rights/rights';
import { requireBranch } from '../branches/branches.ts';
import { type ColumnDefinition, columnFields, inOrder } from '../columns/column-fields.ts';
import type { MetadataContext } from '../context.ts';
import { transactOnce } from '../requests/idempotency.ts';
import { placeOf } from '../rights/place.ts';
import { requireVisible } from '../rights/visibility.ts';
import { lockRow, mapUniqueViolation, type Transaction } from '../transaction.ts';
import {
  announceDefinition,
  nextDefinitionIds,
  requireRoom,
  shownDefinition,
  storedFields,
  type TableDefinition,
} from './table-definitions.ts';
import { isBeingRemoved } from './table-references.ts';
import { type FullDefinition, fullDefinition, structureOf } from './table-structure.ts';

/**
 * `include_data`: the clone begins with the rows that the original has when the clone is deployed
 * first, if they may be viewed then (changes/deployments/first-rows.ts).
 */
export type CloneInput = { target_branch_id: number; include_data?: boolean | undefined };

export type ClonedDefinition = TableDefinition & { column_definitions: ColumnDefinition[] };

/** Clones a definition that the caller sees, with its columns; the clone is a draft. */
export async function cloneTableDefinition(
  ctx: MetadataContext,
  call: CallContext,
  original: TableDefinition,
  read: () => CloneInput,
): Promise<ClonedDefinition> {
  await requireVisible(ctx, call, placeOf(original));
  const { target_branch_id: targetBranchId, include_data: includeData = false } = read();
  // Approvers of a branch see its definitions, not its rows.
  if (includeData) await requireRight(ctx.rights, call, 'view', placeOf(original));
  const branch = await requireBranch(ctx, call, targetBranchId);
  await requireRight(ctx.rights, call, 'develop', { branchId: targetBranchId, domainId: original.domain_id });
  const copy = async (tx: Transaction) => {
    const [id] = await cloneInto(tx, call, [original.id], branch, includeData);
    const where = { id: id as number };
    const cloned = await tx.table_definition.findUniqueOrThrow({ where, select: storedFields });
    const ofClone = { table_definition_id: cloned.id, account_id: call.accountId };
    const columns = await tx.column_definition.findMany({ where: ofClone, select: columnFields, orderBy: inOrder });
    return { ...shownDefinition(cloned), column_definitions: columns };
  };
  const taken: Problem = {
    code: 'taken',
    message: `A table with this key or name is already on the branch ${branch.name}`,
    field: 'target_branch_id',
  };
  return mapUniqueViolation(taken, () => transactOnce(ctx, call, copy, ({ id }) => id));
}

/**
 * Clones definitions into a branch, in a number of statements that does not depend on theirs, and
 * answers the ids of the clones in the order of the ids. Their foreign keys refer to each other,
 * else to the tables of the same keys on the branch.
 */
export async function cloneInto(
  tx: Transaction,
  call: CallContext,
  ids: number[],
  branch: { id: number; name: string },
  includeData: boolean,
): Promise<number[]> {
  await tx.$queryRaw`
    select id from table_definition where account_id = ${call.accountId} and id = any(${ids}) order by id for share`;
  const where = { id: { in: ids }, account_id: call.accountId };
  const found = await tx.table_definition.findMany({ where, ...fullDefinition });
  const sources = ids.flatMap((id) => found.find((each) => each.id === id) ?? []);
  if (sources.length < ids.length) throw notFound('Table definition');
  await requireRoom(tx, call, sources.length);
  const cloneIds = await nextDefinitionIds(tx, sources.length);
  const clones = sources.map((source, i) => ({ source, id: cloneIds[i] as number }));
  const targets = await findTargets(tx, call, clones, branch);
  if (includeData) await requireRows(tx, call, sources);
  await copyDefinitions(tx, call, clones, { branchId: branch.id, includeData });
  await copyColumns(tx, clones, targets);
  for (const { source, id } of clones)
    await announceDefinition(tx, call, 'cloned', { id, branch_id: branch.id }, { source_id: source.id });
  return cloneIds;
}

type Clone = { source: FullDefinition; id: number };

/** Maps each table that the sources refer to to its clone, or the one of the same key there. */
async function findTargets(
  tx: Transaction,
  call: CallContext,
  clones: Clone[],
  branch: { id: number; name: string },
): Promise<Map<number, number>> {
  const targets = new Map(clones.map(({ source, id }) => [source.id, id]));
  const byKey = new Map(clones.map(({ source, id }) => [source.key, id]));
  const problems: Problem[] = [];
  for (const column of clones.flatMap(({ source }) => source.columns)) {
    const referred = column.foreign_key_table;
    if (!referred || targets.has(referred.id)) continue;
    const target = byKey.get(referred.key) ?? (await findUsable(tx, call, referred.key, branch.id));
    if (target !== undefined) targets.set(referred.id, target);
    else
      problems.push({
        code: 'invalid_reference',
        message: `Column ${column.name} refers to the table ${referred.key}, which is not on the branch ${branch.name}; clone that first`,
        column: column.name,
        params: { table: referred.key },
      });
  }
  if (problems.length > 0) throw validationFailed(problems);
  return targets;
}

async function findUsable(tx: Transaction, call: CallContext, key: string, branchId: number) {
  const where = { account_id: call.accountId, branch_id: branchId, key };
  const target = await tx.table_definition.findFirst({ where, select: { id: true } });
  const isUsable =
    target &&
    (await lockRow(tx, 'table_definition', call.accountId, target.id, 'read')) &&
    !(await isBeingRemoved(tx, call, target.id));
  return isUsable ? target.id : undefined;
}

async function requireRows(tx: Transaction, call: CallContext, sources: FullDefinition[]): Promise<void> {
  const where = { id: { in: sources.map(({ id }) => id) }, account_id: call.accountId };
  const deployed = await tx.deployed_table_definition.findMany({ where, select: { id: true } });
  const without = sources.filter(({ id }) => !deployed.some((each) => each.id === id));
  if (without.length === 0) return;
  const name = sources.length === 1 ? 'Table definition' : without.map(({ key }) => key).join(', ');
  throw validationFailed({
    code: 'wrong_state',
    message: `${name} is not deployed, so it has no rows to include`,
    ...(sources.length > 1 && { params: { tables: without.map(({ key }) => key) } }),
  });
}

async function copyDefinitions(
  tx: Transaction,
  call: CallContext,
  clones: Clone[],
  { branchId, includeData }: { branchId: number; includeData: boolean },
): Promise<void> {
  await tx.table_definition.createMany({
    data: clones.map(({ source, id }) => {
      const { account_id, key, name, name_key, description, domain_id, lineage_id, load_type } = source;
      return {
        ...{ id, account_id, key, name, name_key, description, domain_id, lineage_id, load_type },
        branch_id: branchId,
        cloned_from_id: source.id,
        cloned_from_version: source.version,
        rows_from_id: includeData ? source.id : null,
        rows_asked_by: includeData ? (call.userId ?? null) : null,
        creator_id: call.userId ?? null,
      };
    }),
  });
  await tx.clone_base.createMany({
    data: clones.map(({ source, id }) => ({
      account_id: source.account_id,
      table_definition_id: id,
      source_id: source.id,
      source_version: source.version,
      structure: structureOf(source),
    })),
  });
}

async function copyColumns(tx: Transaction, clones: Clone[], targets: Map<number, number>): Promise<void> {
  await tx.column_definition.createMany({
    data: clones.flatMap((clone) =>
      clone.source.columns.map(
        ({ id: _id, created_at: _made, updated_at: _changed, foreign_key_table, ...column }) => ({
          ...column,
          table_definition_id: clone.id,
          foreign_key_table_id: foreign_key_table ? (targets.get(foreign_key_table.id) ?? null) : null,
        }),
      ),
    ),
  });
  await tx.$executeRaw`
    update table_definition clone set lookup_display_column_id = copy.id
    from table_definition source
    join column_definition shown on shown.id = source.lookup_display_column_id
    join column_definition copy on copy.lineage_id = shown.lineage_id
    where clone.id = any(${clones.map(({ id }) => id)}) and source.id = clone.cloned_from_id
      and copy.table_definition_id = clone.id`;
}
