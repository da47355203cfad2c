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
  nextDefinitionId,
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
  const sourceId = original.id;
  const copy = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'table_definition', call.accountId, sourceId, 'read'))) throw notFound('Table definition');
    const source = await tx.table_definition.findUniqueOrThrow({ where: { id: sourceId }, ...fullDefinition });
    await requireRoom(tx, call);
    const id = await nextDefinitionId(tx);
    const targets = await findTargets(tx, call, source, id, branch);
    if (includeData) await requireRows(tx, call, source);
    await copyDefinition(tx, call, source, { id, branchId: targetBranchId, includeData });
    await copyColumns(tx, source, id, targets);
    const cloned = await tx.table_definition.findUniqueOrThrow({ where: { id }, select: storedFields });
    await announceDefinition(tx, call, 'cloned', cloned, { source_id: sourceId });
    const where = { table_definition_id: id, account_id: call.accountId };
    const columns = await tx.column_definition.findMany({ where, select: columnFields, orderBy: inOrder });
    return { ...shownDefinition(cloned), column_definitions: columns };
  };
  const taken: Problem = {
    code: 'taken',
    message: `A table with this key or name is already on the branch ${branch.name}`,
    field: 'target_branch_id',
  };
  return mapUniqueViolation(taken, () => transactOnce(ctx, call, copy, ({ id }) => id));
}

/** Maps each table that the source refers to to the one of the same key on the target branch. */
async function findTargets(
  tx: Transaction,
  call: CallContext,
  source: FullDefinition,
  cloneId: number,
  branch: { id: number; name: string },
): Promise<Map<number, number>> {
  const targets = new Map([[source.id, cloneId]]);
  const problems: Problem[] = [];
  for (const column of source.columns) {
    const referred = column.foreign_key_table;
    if (!referred || targets.has(referred.id)) continue;
    const where = { account_id: call.accountId, branch_id: branch.id, key: referred.key };
    const target = await tx.table_definition.findFirst({ where, select: { id: true } });
    const isUsable =
      target &&
      (await lockRow(tx, 'table_definition', call.accountId, target.id, 'read')) &&
      !(await isBeingRemoved(tx, call, target.id));
    if (isUsable) targets.set(referred.id, target.id);
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

async function requireRows(tx: Transaction, call: CallContext, { id }: FullDefinition): Promise<void> {
  const where = { id, account_id: call.accountId };
  if ((await tx.deployed_table_definition.count({ where })) === 0)
    throw validationFailed({
      code: 'wrong_state',
      message: 'Table definition is not deployed, so it has no rows to include',
    });
}

async function copyDefinition(
  tx: Transaction,
  call: CallContext,
  source: FullDefinition,
  { id, branchId, includeData }: { id: number; branchId: number; includeData: boolean },
): Promise<void> {
  const { account_id, key, name, name_key, description, domain_id, lineage_id, load_type } = source;
  await tx.table_definition.create({
    data: {
      id,
      account_id,
      key,
      name,
      name_key,
      description,
      domain_id,
      lineage_id,
      load_type,
      branch_id: branchId,
      cloned_from_id: source.id,
      cloned_from_version: source.version,
      rows_from_id: includeData ? source.id : null,
      rows_asked_by: includeData ? (call.userId ?? null) : null,
      creator_id: call.userId ?? null,
    },
  });
  await tx.clone_base.create({
    data: {
      account_id,
      table_definition_id: id,
      source_id: source.id,
      source_version: source.version,
      structure: structureOf(source),
    },
  });
}

async function copyColumns(
  tx: Transaction,
  source: FullDefinition,
  cloneId: number,
  targets: Map<number, number>,
): Promise<void> {
  const copies = await tx.column_definition.createManyAndReturn({
    data: source.columns.map(({ id: _id, created_at: _made, updated_at: _changed, foreign_key_table, ...column }) => ({
      ...column,
      table_definition_id: cloneId,
      foreign_key_table_id: foreign_key_table ? (targets.get(foreign_key_table.id) ?? null) : null,
    })),
    select: { id: true, lineage_id: true },
  });
  const shown = source.columns.find(({ id }) => id === source.lookup_display_column_id);
  const copy = copies.find(({ lineage_id }) => lineage_id === shown?.lineage_id);
  if (copy) await tx.table_definition.update({ where: { id: cloneId }, data: { lookup_display_column_id: copy.id } });
}
