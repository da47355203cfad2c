// What a deployment does to the tables of a branch, computed before any row is read: which tables
// change, what is wrong with each of them and with their references, and the catalogue as it will
// be.
import type { DeployedTable, ForeignKey, WantedTable } from '../tables/table.ts';
import type { Pair } from './schema/checks.ts';
import { resolveForeignKeys } from './schema/foreign-keys.ts';
import { type Diff, diffTable } from './table-diff.ts';
import { findTableProblems, type UnwantedTable } from './wanted-tables.ts';

export type TableChange = { pair: Pair; diff: Diff; problems: string[] };

/** `old`: undefined when it is out of service already, and nothing is left to do. */
export type Removal = { unwanted: UnwantedTable; old: DeployedTable | undefined; diff: Diff; problems: string[] };

export type BranchChange = {
  /** The wanted tables, in the order of the request. */
  wanted: TableChange[];
  /** The tables that are taken out of service, in the order of the request. */
  removals: Removal[];
  /**
   * Deployed tables that aren't wanted but refer to one that is: their foreign keys must fit what
   * it becomes.
   */
  touched: Pair[];
  /** Before and after of any table of the branch, by lineage. */
  pairOf: (lineageId: number) => Pair;
};

export type BranchTables = {
  /** The tables deployed on the branch. */
  branch: DeployedTable[];
  /** Wanted ids that are deployed elsewhere: another branch or account. */
  elsewhere: Set<number>;
};

/** Compares what is wanted on a branch with what is deployed there. Pure. */
export function planBranch(
  branchId: number,
  wanted: WantedTable[],
  { branch, elsewhere }: BranchTables,
  unwanted: UnwantedTable[] = [],
): BranchChange {
  const deployedById = new Map(branch.map((table) => [table.table_definition_id, table]));
  const wantedById = new Map(wanted.map((table) => [table.table_definition_id, table]));
  const isRemoved = new Set(unwanted.map((table) => table.table_definition_id));
  const after = (id: number): WantedTable | undefined =>
    wantedById.get(id) ?? (isRemoved.has(id) ? undefined : deployedById.get(id));

  const outcome = outcomeOf(branch, wanted);
  const changes = wanted.map((table): TableChange => {
    const old = deployedById.get(table.table_definition_id);
    const resolved = resolveForeignKeys(table.structure.columns, after);
    table.structure.foreign_keys = resolved.foreignKeys;
    const problems = [
      ...findTableProblems(table),
      ...findPlaceProblems(table, branchId, old, outcome),
      ...resolved.problems,
    ];
    if (elsewhere.has(table.table_definition_id)) problems.push(deployedElsewhere);
    return { pair: { old, wanted: table }, diff: diffTable(old, table), problems };
  });

  const touched: Pair[] = [];
  for (const old of branch) {
    if (wantedById.has(old.table_definition_id) || isRemoved.has(old.table_definition_id)) continue;
    const refersToWanted = old.structure.foreign_keys.some((foreignKey) => wantedById.has(foreignKey.target_table_id));
    if (!refersToWanted) continue;
    const resolved = resolveForeignKeys(old.structure.columns, after);
    touched.push({ old, wanted: { ...old, structure: { ...old.structure, foreign_keys: resolved.foreignKeys } } });
    for (const problem of resolved.problems) addReferringProblem(changes, old, problem);
  }

  const staying = [...branch.filter((table) => !wantedById.has(table.table_definition_id)), ...wanted].filter(
    (table) => !isRemoved.has(table.table_definition_id),
  );
  const removals = unwanted.map((table): Removal => {
    const id = table.table_definition_id;
    const old = deployedById.get(id);
    const problems = staying
      .filter(({ structure }) => structure.columns.some((column) => column.foreign_key_table_id === id))
      .map(({ name }) => `${name} refers to this table.`);
    if (wantedById.has(id)) problems.push('The table is to be deployed and to be removed.');
    if (elsewhere.has(id)) problems.push(deployedElsewhere);
    return { unwanted: table, old, diff: diffTable(old, undefined), problems };
  });

  const pairs = new Map<number, Pair>();
  for (const table of branch) pairs.set(table.lineage_id, { old: table, wanted: table });
  for (const pair of touched) pairs.set(pair.wanted.lineage_id, pair);
  for (const { pair } of changes) pairs.set(pair.wanted.lineage_id, pair);
  return {
    wanted: changes,
    removals,
    touched,
    pairOf: (lineageId) => {
      const pair = pairs.get(lineageId);
      if (!pair) throw new Error(`no table of lineage ${lineageId} on this branch`);
      return pair;
    },
  };
}

const deployedElsewhere = 'The table definition is deployed on another branch.';

// A table that isn't being deployed can't adapt: its problems are problems of the wanted table it
// refers to.
function addReferringProblem(changes: TableChange[], referring: DeployedTable, problem: string): void {
  for (const { pair, problems } of changes)
    if (
      referring.structure.foreign_keys.some(
        (foreignKey) => foreignKey.target_table_id === pair.wanted.table_definition_id,
      )
    )
      problems.push(describeReferring(referring, problem));
}

/** The problem of a referring table that is not wanted, as a problem of the wanted table. */
export const describeReferring = (referring: WantedTable, problem: string): string =>
  `${referring.name} refers to this table: ${problem}`;

/** The touched tables that refer to this one, each with those foreign keys only. */
export function referringTo(target: WantedTable, { touched }: BranchChange): Pair[] {
  const isHere = (foreignKey: ForeignKey) => foreignKey.target_table_id === target.table_definition_id;
  const only = <T extends WantedTable>(table: T): T => {
    const { structure } = table;
    return { ...table, structure: { ...structure, foreign_keys: structure.foreign_keys.filter(isHere) } };
  };
  return touched
    .filter(({ old }) => old?.structure.foreign_keys.some(isHere))
    .map(({ old, wanted }) => ({ old: old && only(old), wanted: only(wanted) }));
}

/** The tables of the branch as it will be, by the attributes that no two of them may share. */
type Outcome = Record<'byId' | 'byKey' | 'byLineage', Map<number | string, WantedTable[]>>;

function outcomeOf(branch: DeployedTable[], wanted: WantedTable[]): Outcome {
  const isWanted = new Set(wanted.map((table) => table.table_definition_id));
  const all = [...branch.filter((table) => !isWanted.has(table.table_definition_id)), ...wanted];
  return {
    byId: Map.groupBy(all, (table) => table.table_definition_id),
    byKey: Map.groupBy(all, (table) => table.key),
    byLineage: Map.groupBy(all, (table) => table.lineage_id),
  };
}

function findPlaceProblems(
  table: WantedTable,
  branchId: number,
  old: DeployedTable | undefined,
  { byId, byKey, byLineage }: Outcome,
): string[] {
  const problems: string[] = [];
  if (table.branch_id !== branchId) problems.push('The table definition belongs to another branch.');
  if (old && old.lineage_id !== table.lineage_id)
    problems.push('The table definition was deployed under another lineage.');
  if ((byId.get(table.table_definition_id)?.length ?? 0) > 1) problems.push('The table definition is named twice.');
  const isOther = (other: WantedTable) => other.table_definition_id !== table.table_definition_id;
  for (const other of (byKey.get(table.key) ?? []).filter(isOther))
    problems.push(`The key ${table.key} is used by the deployed table ${other.name} (${other.table_definition_id}).`);
  for (const other of (byLineage.get(table.lineage_id) ?? []).filter(isOther))
    if (other.key !== table.key)
      problems.push(
        `The deployed table ${other.name} (${other.table_definition_id}) has the same lineage; remove it first.`,
      );
  return problems;
}
