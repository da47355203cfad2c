// The plan of a merge of rows between two deployed tables of one lineage: which columns are merged,
// in which form, and what prevents it. Pure.
import type { Base } from '../deployments/row-base.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import type { Decisions } from './decisions/resolutions.ts';

/** A column that both tables have. */
export type Shared = { from: Column; to: Column };

export type MergePlan = {
  source: DeployedTable;
  target: DeployedTable;
  /** The instant as of which the source is read. */
  at: string;
  base: Base | undefined;
  key: Column[];
  /** Columns beside the key that both have. */
  shared: Shared[];
  /** Columns that only the target has. */
  own: Column[];
  decisions: Decisions;
  /** The promotion whose decisions on rows count; 0: none. */
  promotionId: number;
};

/** A sentence about a table, with the number of rows concerned; 0 when it is not about rows. */
export type TableMessage = { table: string; message: string; rows: number };

/** Why the rows of a table can't be merged at all. */
export function findPlanProblems(source: DeployedTable, target: DeployedTable): TableMessage[] {
  const problem = (message: string): TableMessage => ({ table: target.name, message, rows: 0 });
  const key = keyColumns(target.structure);
  if (key.length === 0)
    return [problem('The table has no primary key, by which rows of two branches are recognised as the same.')];
  const shape = (columns: Column[]) =>
    columns
      .map((column) => `${column.lineage_id} ${typeOf(column).base}`)
      .toSorted()
      .join();
  if (shape(key) !== shape(keyColumns(source.structure)))
    return [
      problem('The primary key is not deployed alike on both branches; promote and deploy the definition first.'),
    ];
  return [];
}

/** Columns of the source that the target doesn't have yet: their values are not merged. */
export function findUnmergedColumns({ source, target }: Pick<MergePlan, 'source' | 'target'>): TableMessage[] {
  const there = new Set(target.structure.columns.map(({ lineage_id }) => lineage_id));
  return source.structure.columns
    .filter(({ lineage_id }) => !there.has(lineage_id))
    .map(({ name }) => ({
      table: target.name,
      message: `${name} is not deployed on the target branch; its values come with a promotion of rows after the deployment.`,
      rows: 0,
    }));
}

/** Pairs the columns of two tables that can be merged. */
export function planMerge(
  input: Pick<MergePlan, 'source' | 'target' | 'at' | 'base' | 'decisions' | 'promotionId'>,
): MergePlan {
  const { source, target } = input;
  const theirs = new Map(source.structure.columns.map((column) => [column.lineage_id, column]));
  const beside = target.structure.columns.filter((column) => !column.is_primary_key);
  return {
    ...input,
    key: keyColumns(target.structure),
    shared: beside.flatMap((to) => {
      const from = theirs.get(to.lineage_id);
      return from ? [{ from, to }] : [];
    }),
    own: beside.filter(({ lineage_id }) => !theirs.has(lineage_id)),
  };
}

/** Every lineage whose values are merged. */
export const mergedLineages = ({ key, shared }: MergePlan): number[] =>
  [...key, ...shared.map(({ to }) => to)].map(({ lineage_id }) => lineage_id);
