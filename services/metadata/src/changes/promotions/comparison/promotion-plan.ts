// The plan of a promotion, pure: every table merged, compared with the target branch, and all that
// blocks it. branch-sides.ts reads the branches, promotion-write.ts writes the outcome.

import { normalizeName } from '@almanac/service-kit/api/names';
import { limits } from '@almanac/service-kit/limits';
import { resolveColumn } from '../../../columns/column-rules.ts';
import type { DataType } from '../../../columns/column-values.ts';
import type { TableStructure } from '../../../table-definitions/table-structure.ts';
import type { PromotionDiff } from './comparison-schema.ts';
import { diffStructures } from './structure-diff.ts';
import { type Conflict, type Decide, mergeTable, type ThreeWays } from './table-merge.ts';

/** One table on both branches. Ids and versions are null on a branch without it. */
export type TablePair = ThreeWays & {
  /** The named definition on the source branch; it may have been deleted. */
  sourceId: number;
  sourceVersion: number | null;
  targetId: number | null;
  targetVersion: number | null;
  lineageId: number;
  key: string;
  name: string;
  /** Deleted with its branch, so that its lineage is unknown. */
  isLost: boolean;
};

/** The other tables of the target branch. */
export type TargetBranch = {
  name: string;
  tables: { id: number; key: string; name: string; name_key: string }[];
  references: { tableId: number; column: string; targetId: number }[];
  /** Tables that are being taken out of service. */
  beingRemoved: ReadonlySet<number>;
};

export type PlannedTable = TablePair & { merged: TableStructure | undefined; diff: PromotionDiff };
export type PromotionPlan = { tables: PlannedTable[]; conflicts: Conflict[] };

/** Merges all tables of a promotion; an open conflict stays as the target has it. */
export function planPromotion(pairs: TablePair[], branch: TargetBranch, decide: Decide): PromotionPlan {
  const merges = pairs.map((pair) => ({
    pair,
    ...(pair.isLost ? { merged: pair.target, conflicts: [] } : mergeTable(pair, decide)),
  }));
  const outcome = outcomeOf(branch, merges);
  const tables = merges.map(({ pair, merged }): PlannedTable => {
    const { change, attributes, columns } = diffStructures(pair.target, merged);
    const blockers = findBlockers(pair, merged, branch, outcome).map((message) => ({ message, rows: 0 }));
    const { sourceId, targetId, key } = pair;
    const diff: PromotionDiff = {
      table_definition_id: sourceId,
      target_table_definition_id: targetId,
      key,
      name: merged?.name ?? pair.name,
      change,
      attributes,
      columns,
      statements: [],
      warnings: [],
      blockers,
    };
    return { ...pair, merged, diff };
  });
  return { tables, conflicts: merges.flatMap(({ conflicts }) => conflicts) };
}

/** The branch after the merge: the unchanged tables, and how often each key and name occurs. */
type Outcome = {
  unchanged: ReadonlySet<number>;
  keys: ReadonlyMap<string, number>;
  names: ReadonlyMap<string, number>;
};
type Merged = { pair: TablePair; merged: TableStructure | undefined };

function outcomeOf(branch: TargetBranch, merges: Merged[]): Outcome {
  const promoted = new Set(merges.map(({ pair }) => pair.targetId));
  const others = branch.tables.filter(({ id }) => !promoted.has(id));
  const own = merges.flatMap(({ merged }) => (merged ? [merged] : []));
  return {
    unchanged: new Set(others.map(({ id }) => id)),
    keys: count([...others.map(({ key }) => key), ...own.map(({ key }) => key)]),
    names: count([...others.map(({ name_key }) => name_key), ...own.map(({ name }) => normalizeName(name))]),
  };
}

function count(values: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function findBlockers(
  pair: TablePair,
  merged: TableStructure | undefined,
  branch: TargetBranch,
  outcome: Outcome,
): string[] {
  if (pair.isLost)
    return [`Table definition ${pair.sourceId} (${pair.name}) has been deleted together with its branch`];
  if (pair.targetId !== null && branch.beingRemoved.has(pair.targetId))
    return [`The table is being removed from the branch ${branch.name}`];
  if (!merged) return findReferences(pair, branch, outcome);
  const problems: string[] = [];
  if ((outcome.keys.get(merged.key) ?? 0) > 1)
    problems.push(
      `The branch ${branch.name} has another table with the key ${merged.key}, which was not cloned from this one`,
    );
  if ((outcome.names.get(normalizeName(merged.name)) ?? 0) > 1)
    problems.push(`The branch ${branch.name} has another table with the name ${merged.name}`);
  return [...problems, ...findColumnProblems(merged, branch, outcome)];
}

// A deleted table must not be referred to by an unchanged one.
function findReferences(pair: TablePair, branch: TargetBranch, outcome: Outcome): string[] {
  const names = new Map(branch.tables.map(({ id, name }) => [id, name]));
  const referring = branch.references
    .filter(({ targetId, tableId }) => targetId === pair.targetId && outcome.unchanged.has(tableId))
    .map(({ tableId, column }) => `${names.get(tableId)}.${column}`);
  return referring.length > 0 ? [`Columns of other tables refer to the table: ${referring.join(', ')}`] : [];
}

function findColumnProblems({ columns }: TableStructure, branch: TargetBranch, outcome: Outcome): string[] {
  const problems: string[] = [];
  if (columns.length > limits.columnsPerTable)
    problems.push(`A table can have at most ${limits.columnsPerTable} columns`);
  if (columns.filter((column) => column.is_primary_key).length > limits.keyColumnsPerTable)
    problems.push(`Primary key can have at most ${limits.keyColumnsPerTable} columns`);
  const names = count(columns.map(({ name }) => name.toLowerCase()));
  for (const [name, times] of names)
    if (times > 1)
      problems.push(`There are different columns with the name ${name} on the two branches; rename or delete one`);
  for (const { foreign_key_table_key: key, data_type, name, ...column } of columns) {
    if (key !== null && !outcome.keys.has(key))
      problems.push(
        `Column ${name} refers to the table ${key}, which is not on the branch ${branch.name}; promote that too`,
      );
    // Each side's column follows the rules; the merge of the two may not.
    const shape = { ...column, name, data_type: data_type as DataType, foreign_key_table_id: key === null ? null : 1 };
    problems.push(...resolveColumn(undefined, shape).problems.map(({ message }) => `Column ${name}: ${message}`));
  }
  return problems;
}
