// Reads what a promotion compares: its tables on both branches, the bases of these pairs, and the
// other tables of the target. Stores new bases.
import { notFound } from '@almanac/service-kit/errors';
import { findBeingRemoved } from '../../../table-definitions/table-references.ts';
import { fullDefinition, structureOf, type TableStructure } from '../../../table-definitions/table-structure.ts';
import { lockRow, type Transaction } from '../../../transaction.ts';
import { revisionOf } from '../../reviewed-revisions.ts';
import type { TablePair, TargetBranch } from './promotion-plan.ts';
import { isSameTable } from './table-merge.ts';

type Caller = { accountId: number };
export type Branches = { from_branch_id: number; to_branch_id: number };
/** A definition of the source branch; key and name are used when it has been deleted. */
export type NamedTable = { table_definition_id: number; key: string; name: string };

/**
 * Locks both branches and every definition concerned. Promotions to the target, its deployments and
 * its removals run one at a time under the lock on it. The order of ids avoids a deadlock of two
 * promotions in opposite directions.
 */
export async function lockBranches(tx: Transaction, caller: Caller, branches: Branches, ids: number[]): Promise<void> {
  const { from_branch_id: from, to_branch_id: to } = branches;
  for (const id of [from, to].sort((a, b) => a - b))
    if (!(await lockRow(tx, 'branch', caller.accountId, id, id === to ? 'edit' : 'read')) && id === to)
      throw notFound('Promotion');
  await tx.$queryRaw`
    select id from table_definition where account_id = ${caller.accountId} and id = any(${ids}) order by id for share`;
  await tx.$queryRaw`
    select id from table_definition where account_id = ${caller.accountId} and branch_id = ${to} and lineage_id in (
      select lineage_id from table_definition where id = any(${ids})
      union all select lineage_id from deleted_table_definition where id = any(${ids}))
    order by id for no key update`;
}

/** Pairs the named tables with those of the same lineage on the target, and with their bases. */
export async function readPairs(
  tx: Transaction,
  caller: Caller,
  branches: Branches,
  named: NamedTable[],
): Promise<TablePair[]> {
  const ids = named.map(({ table_definition_id }) => table_definition_id);
  const mine = { account_id: caller.accountId };
  const on = (branch_id: number, where: object) =>
    tx.table_definition.findMany({ where: { ...mine, branch_id, ...where }, ...fullDefinition });
  const sources = new Map((await on(branches.from_branch_id, { id: { in: ids } })).map((each) => [each.id, each]));
  const deleted = await tx.deleted_table_definition.findMany({
    where: { ...mine, branch_id: branches.from_branch_id, id: { in: ids.filter((id) => !sources.has(id)) } },
  });
  // A table of the same lineage that is on the branch now is not the deleted one.
  const successors = await on(branches.from_branch_id, {
    lineage_id: { in: deleted.map(({ lineage_id }) => lineage_id) },
  });
  const succeeded = new Set(successors.map(({ lineage_id }) => lineage_id));
  const deletedById = new Map(
    deleted.filter(({ lineage_id }) => !succeeded.has(lineage_id)).map((each) => [each.id, each]),
  );
  const lineages = [...sources.values(), ...deletedById.values()].map(({ lineage_id }) => lineage_id);
  const targets = new Map(
    (await on(branches.to_branch_id, { lineage_id: { in: lineages } })).map((each) => [each.lineage_id, each]),
  );
  const findBase = await readBases(tx, caller, [...ids, ...[...targets.values()].map(({ id }) => id)]);
  return named.map(({ table_definition_id: id, key, name }): TablePair => {
    const source = sources.get(id);
    const lineageId = (source ?? deletedById.get(id))?.lineage_id;
    const target = lineageId === undefined ? undefined : targets.get(lineageId);
    return {
      sourceId: id,
      sourceVersion: source?.version ?? null,
      targetId: target?.id ?? null,
      targetVersion: target?.version ?? null,
      lineageId: lineageId ?? 0,
      key: source?.key ?? key,
      name: source?.name ?? name,
      isLost: lineageId === undefined,
      base: target && findBase(id, target.id),
      source: source && structureOf(source),
      target: target && structureOf(target),
    };
  });
}

type FindBase = (one: number, other: number) => TableStructure | undefined;

/**
 * Reads the base of pairs: the last structure that two definitions had in common. Two that were
 * never merged with each other have the base that both share with a third one, if it is the same:
 * then neither has merged anything from that one since.
 */
async function readBases(tx: Transaction, caller: Caller, ids: number[]): Promise<FindBase> {
  const rows = await tx.clone_base.findMany({
    where: { account_id: caller.accountId, OR: [{ table_definition_id: { in: ids } }, { source_id: { in: ids } }] },
    orderBy: { created_at: 'asc' },
  });
  const partners = new Map<number, Map<number, TableStructure>>();
  const add = (one: number, other: number, structure: TableStructure) =>
    partners.set(one, (partners.get(one) ?? new Map()).set(other, structure));
  for (const { table_definition_id, source_id, structure } of rows) {
    add(table_definition_id, source_id, structure as TableStructure);
    add(source_id, table_definition_id, structure as TableStructure);
  }
  return (one, other) => {
    const direct = partners.get(one)?.get(other);
    if (direct) return direct;
    for (const [third, base] of partners.get(one) ?? []) {
      const same = partners.get(other)?.get(third);
      if (same && isSameTable(base, same)) return base;
    }
    return undefined;
  };
}

/** Reads the other tables of the target branch, as far as they can block the pairs. */
export async function readTargetBranch(
  tx: Transaction,
  caller: Caller,
  branch: { id: number; name: string },
  pairs: TablePair[],
): Promise<TargetBranch> {
  const mine = { account_id: caller.accountId, branch_id: branch.id };
  const deleted = pairs.flatMap(({ source, targetId }) => (source || targetId === null ? [] : [targetId]));
  const tables = await tx.table_definition.findMany({
    where: mine,
    select: { id: true, key: true, name: true, name_key: true },
  });
  const references = await tx.column_definition.findMany({
    where: { account_id: caller.accountId, foreign_key_table_id: { in: deleted } },
    select: { name: true, table_definition_id: true, foreign_key_table_id: true },
    orderBy: { id: 'asc' },
  });
  const beingRemoved = await findBeingRemoved(tx, caller, { branch_id: branch.id });
  return {
    name: branch.name,
    tables,
    references: references.map(({ name, table_definition_id, foreign_key_table_id }) => ({
      tableId: table_definition_id,
      column: name,
      targetId: foreign_key_table_id as number,
    })),
    beingRemoved,
  };
}

/** The revision of pairs: it changes with any of the definitions or their bases. */
export function revisionOfPairs(pairs: TablePair[]): string {
  const facts = pairs
    .toSorted((a, b) => a.sourceId - b.sourceId)
    .map(({ sourceId, sourceVersion, targetId, targetVersion, base }) => [
      sourceId,
      sourceVersion,
      targetId,
      targetVersion,
      base ?? null,
    ]);
  return revisionOf(facts);
}

/** Stores the new base of each pair: the structure that was merged from the source. */
export async function moveBases(
  tx: Transaction,
  caller: Caller,
  moved: { sourceId: number; targetId: number; version: number; structure: TableStructure }[],
): Promise<void> {
  if (moved.length === 0) return;
  const [ones, others] = [moved.map(({ sourceId }) => sourceId), moved.map(({ targetId }) => targetId)];
  await tx.$executeRaw`
    delete from clone_base using unnest(${ones}::int[], ${others}::int[]) as pair (one, other)
    where account_id = ${caller.accountId} and (table_definition_id, source_id) in ((one, other), (other, one))`;
  await tx.clone_base.createMany({
    data: moved.map(({ sourceId, targetId, version, structure }) => ({
      account_id: caller.accountId,
      table_definition_id: targetId,
      source_id: sourceId,
      source_version: version,
      structure,
    })),
  });
}
