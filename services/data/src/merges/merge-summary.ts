// What a merge would do to a table before conflicts are decided: how many rows it concerns, and a
// revision that names all that a reader saw of them. Pure.
import { mergedColumn } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { typeOf } from '../values/value-types.ts';
import { rowDecisions } from './decisions/row-decisions.ts';
import type { MergePlan } from './merge-plan.ts';
import { isRejectedSql } from './merge-relation-sql.ts';
import type { MergePair, RowsRevision } from './merge-request.ts';

export const mergeKinds = ['create', 'update', 'delete'] as const;
export type MergeKind = (typeof mergeKinds)[number];

/**
 * What the source has done to a row that a merge concerns. Where no conflict is decided otherwise,
 * the merge does the same (`op`).
 */
export const kindSql = `case when not in_source then 'delete' when sk is null then 'create' else 'update' end`;

/** How many rows of `from` are of each kind, and how many have a conflict. */
export const kindCountsSql: string = [
  ...mergeKinds.map((kind) => `count(*) filter (where ${kindSql} = '${kind}') as "${kind}"`),
  `count(*) filter (where conflicts <> '{}') as with_conflict`,
].join(', ');

/** How many rows of `from` are decided in each way. */
export const decisionCountsSql: string = rowDecisions
  .map((decision) => `count(*) filter (where decision = '${decision}') as ${decision}`)
  .join(', ');

/** `conflicts`: of cells and of rows as a whole. */
export type MergeSummary = MergePair & {
  created: number;
  updated: number;
  deleted: number;
  conflicts: number;
  revision: string;
};

/** One row of counts and `revision`, over `from`: the rows of a merge (`mergedRowsSql`). */
export function summarySql(plan: MergePlan, from: (bind: Values['bind']) => string): Statement {
  const { bind, list } = new Values();
  return { text: `select ${summaryColumns(plan, bind)} from ${from(bind)}`, values: list, customPlan: true };
}

// Decisions about conflicts don't change a summary: they decide neither which rows these are nor
// what the branches have. That rows are rejected does: they would not be merged.
function summaryColumns(plan: MergePlan, bind: Values['bind']): string {
  const { key, shared, own } = plan;
  const columns = [...key, ...shared.map(({ to }) => to), ...own];
  const structure = JSON.stringify(columns.map((column) => [column.lineage_id, column.name, typeOf(column).base]));
  const cells = [
    ...key.map((column) => mergedColumn('key', column)),
    'in_source',
    'in_base',
    'sk',
    ...shared.flatMap(({ to }) =>
      (['source', 'misfit', 'base', 'target'] as const).map((form) => mergedColumn(form, to)),
    ),
    ...own.flatMap((column) => [mergedColumn('base', column), mergedColumn('target', column)]),
  ];
  const row = `md5(concat(row(${cells.join(', ')})::text, case when ${isRejectedSql} then ' rejected' end))`;
  return (
    `${kindCountsSql}, coalesce(sum(cardinality(conflicts)), 0) as conflicts,` +
    ` encode(sha256(convert_to(concat(${bind(structure, 'text')}, string_agg(${row}, '' order by ${row} collate "C")), 'UTF8')), 'hex') as revision`
  );
}

export function readSummary({ source, target }: MergePlan, row: Record<string, unknown> | undefined): MergeSummary {
  return {
    source_table_id: source.table_definition_id,
    target_table_id: target.table_definition_id,
    created: Number(row?.create),
    updated: Number(row?.update),
    deleted: Number(row?.delete),
    conflicts: Number(row?.conflicts),
    revision: row?.revision as string,
  };
}

/** The sources of which something else was seen than is there now. */
export function findChanged(seen: RowsRevision[], summaries: MergeSummary[]): number[] {
  const before = new Map(seen.map(({ source_table_id, revision }) => [source_table_id, revision]));
  const now = new Map(summaries.map(({ source_table_id, revision }) => [source_table_id, revision]));
  return [...new Set([...before.keys(), ...now.keys()])].filter((id) => before.get(id) !== now.get(id));
}
