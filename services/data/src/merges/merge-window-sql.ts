// The rows that a merge concerns as callers get them, by window, with what the base and both
// branches have. Pure.
import { joinedSql, maxRecordBytes, mayOverflow } from '../rows/answer-size.ts';
import { arraySql, objectSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { mergedColumn } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import { exactForm } from '../tables/open-table.ts';
import type { Column } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { decisionMembers, maxDecisionBytes, type RowDecision } from './decisions/row-decisions.ts';
import type { MergePlan } from './merge-plan.ts';
import { isConflictSql, mergedRowsSql } from './merge-relation-sql.ts';
import { decisionCountsSql, kindCountsSql, kindSql, type MergeKind } from './merge-summary.ts';

/** Which rows of a table. `conflict`: with one, or without. */
export type MergedFilter = {
  kind?: MergeKind | undefined;
  conflict?: boolean | undefined;
  decision?: RowDecision | undefined;
};

type MergeWindow = MergedFilter & { offset: number; limit: number; exactNumbers: boolean };

/** The condition of these rows. */
export function matchesSql({ kind, conflict, decision }: MergedFilter, bind: Bind): string {
  const conditions = [
    ...(kind === undefined ? [] : [`${kindSql} = ${bind(kind, 'text')}`]),
    ...(conflict === undefined ? [] : [`(conflicts <> '{}') = ${bind(conflict, 'boolean')}`]),
    ...(decision === undefined ? [] : [`decision = ${bind(decision, 'text')}`]),
  ];
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

/**
 * One row: `answer`, the JSON objects of a window by key with commas between them; `matching`, how
 * many match; and the counts of all. The statement fails when the window exceeds an answer.
 */
export function windowSql(plan: MergePlan, { offset, limit, exactNumbers, ...filter }: MergeWindow): Statement {
  const { bind, list } = new Values();
  const matches = matchesSql(filter, bind);
  const order = plan.key.map((column) => mergedColumn('key', column)).join(', ');
  const window = `limit ${bind(limit, 'int')} offset ${bind(offset, 'bigint')}`;
  const shown = `(select * from m where ${matches} order by ${order} ${window}) p`;
  const overflows = mayOverflow(limit, 4 * maxRecordBytes(plan.target) + maxDecisionBytes);
  const answer = joinedSql(rowSql(plan, exactNumbers, bind), shown, overflows);
  return {
    text:
      `with m as materialized (${mergedRowsSql(plan, bind)})` +
      ` select ${answer} as answer, c.* from (select count(*) filter (where ${matches}) as matching, ${kindCountsSql}, ${decisionCountsSql} from m) c`,
    values: list,
    customPlan: true,
  };
}

function rowSql(plan: MergePlan, exactNumbers: boolean, bind: Bind): string {
  const { source, target, base, key, shared, own } = plan;
  const table = exactNumbers ? exactForm(target) : target;
  const both = shared.map(({ to }) => to);
  const values = (form: 'key' | 'base' | 'source' | 'target', columns: Column[]) =>
    objectSql(
      columns.map((column) => ({
        name: column.name,
        json: valueJsonSql(table, column, mergedColumn(form, column)),
        when: 'true',
      })),
      bind,
    );
  const names = (columns: Column[], when: (column: Column) => string) =>
    arraySql(columns.map((column) => ({ json: bind(JSON.stringify(column.name), 'text'), when: when(column) })));
  const state = (column: Column) => mergedColumn('state', column);
  // Of columns that came later nothing is known at the base.
  const known = both.filter(({ lineage_id }) => base?.columns.has(lineage_id));
  const atBase = base?.table === target ? [...known, ...own] : known;
  return concatSql([
    `'{"id":'`,
    'coalesce(sk, source_sk)',
    `',"table_definition_id":'`,
    bind(source.table_definition_id, 'int'),
    `',"target_table_definition_id":'`,
    bind(target.table_definition_id, 'int'),
    `',"kind":"'`,
    kindSql,
    `'","key":'`,
    values('key', key),
    `',"base":'`,
    `case when in_base then ${values('base', atBase)} else 'null' end`,
    `',"source":'`,
    `case when in_source then ${values('source', both)} else 'null' end`,
    `',"target":'`,
    `case when sk is null then 'null' else ${values('target', [...both, ...own])} end`,
    `',"changed_columns":'`,
    names(
      both,
      (column) =>
        `case when not in_source then false when sk is null then ${mergedColumn('source', column)} is not null else ${state(column)} <> 't' end`,
    ),
    `',"conflict":'`,
    `case when conflicts = '{}' then 'null' else '{"row":' || (${isConflictSql('row_state')})::text || ',"columns":' ||` +
      ` ${names(both, (column) => isConflictSql(state(column)))} || '}' end`,
    `','`,
    ...decisionMembers('decision_comment'),
    `'}'`,
  ]);
}
