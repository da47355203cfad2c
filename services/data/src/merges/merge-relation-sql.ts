// A three-way merge of a table as one relation: every row in which the source differs from the
// base, with the values of base and target, and the outcome of each cell and of the row itself.
// Pure.
//
// States of a cell (`p_`) and of the row (`row_state`):
//   t the target's stays   s the source's is taken   ? both changed it, undecided
//   S, T decided for source or target
// What becomes of the row (`op`): c created, u updated, d deleted, n nothing. A rejected row stays
// as the target has it.

import { findCast } from '../deployments/schema/casts.ts';
import { rowsSql } from '../rows/as-of-sql.ts';
import { columnName, historyName, mergedColumn, mergeName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { Column } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import { rowItself, type Side } from './decisions/resolutions.ts';
import { decisionColumns, joinDecisionsSql } from './decisions/row-decisions.ts';
import type { MergePlan, Shared } from './merge-plan.ts';

const key = (column: Column) => mergedColumn('key', column);

/** True for rows that a promotion leaves as the target has them. */
export const isRejectedSql = `decision = 'rejected'`;

/** True for states that are a conflict. */
export const isConflictSql = (state: string): string => `${state} in ('?', 'S', 'T')`;

/**
 * The query of the rows that a merge concerns: those that it would change, and those with a
 * conflict, whatever is decided about it.
 */
export function mergedRowsSql(plan: MergePlan, bind: Bind): string {
  const isIncremental =
    plan.base?.table === plan.source && plan.shared.every(({ to }) => plan.base?.columns.has(to.lineage_id));
  return (
    `with s as (${sourceSql(plan, isIncremental, bind)}), b as (${baseSql(plan, isIncremental, bind)}),` +
    ` d as (${differenceSql(plan)}), j as (${joinTargetSql(plan, bind)}), p as (${statesSql(plan)}), o as (${outcomeSql(plan)})` +
    ` select *, case when ${isRejectedSql} then 'n' else wanted_op end as op, ${conflictsSql(plan, isConflictSql)} as conflicts,` +
    ` ${conflictsSql(plan, (state) => `${state} = '?'`)} as undecided from o` +
    ` where wanted_op <> 'n' or ${[...plan.shared.map(({ to }) => mergedColumn('state', to)), 'row_state'].map(isConflictSql).join(' or ')}`
  );
}

/** Collects these rows under `mergeName`. */
export function collectSql(plan: MergePlan): Statement {
  const values = new Values();
  const text = `create temporary table ${mergeName(plan.target)} on commit drop as ${mergedRowsSql(plan, values.bind)}`;
  return { text, values: values.list, customPlan: true };
}

type Cell = { value: string; misfit: string };

/** A value in the form of another column, and whether it doesn't fit there. */
function cellSql(from: Column, to: Column, x: string): Cell {
  const cast = findCast(from, to);
  const none = `null::${typeOf(to).base}`;
  if (!cast) return { value: x, misfit: 'false' };
  const valid = cast.valid(x);
  const lossy = cast.lossy?.(x);
  const fits = lossy === undefined ? valid : `case when ${valid} then not (${lossy}) else false end`;
  return {
    value:
      valid === 'true' ? cast.value(x) : `case when ${x} is null then ${none} when ${valid} then ${cast.value(x)} end`,
    misfit: fits === 'true' ? 'false' : `case when ${x} is null then false else not (${fits}) end`,
  };
}

// A relation of the past has the name `as_of` (`rows/as-of-sql.ts`), and so has every other one
// here.
const keysOf = ({ key: columns }: MergePlan) =>
  columns.map((column) => `as_of.${columnName(column)} as ${key(column)}`);

function sourceSql(plan: MergePlan, isIncremental: boolean, bind: Bind): string {
  const cells = plan.shared.flatMap(({ from, to }) => {
    const { value, misfit } = cellSql(from, to, `as_of.${columnName(from)}`);
    return [`${value} as ${mergedColumn('source', to)}`, `${misfit} as ${mergedColumn('misfit', to)}`];
  });
  const rows = rowsSql(plan.source, bind(plan.at, 'timestamptz'));
  const changed = isIncremental ? ` and as_of.svc_updated_at > ${bind(plan.base?.at, 'timestamptz')}` : '';
  return `select ${['as_of.svc_sk as source_sk', ...keysOf(plan), ...cells].join(', ')} from ${rows} where as_of.svc_live${changed}`;
}

// Where the base is a state of the source, only versions superseded since can differ.
function baseSql(plan: MergePlan, isIncremental: boolean, bind: Bind): string {
  const { base } = plan;
  const theirs = new Map(base?.table.structure.columns.map((column) => [column.lineage_id, column]));
  const isTarget = base?.table === plan.target;
  const cell = (to: Column, isKnown: boolean) => {
    const from = theirs.get(to.lineage_id);
    const value = from && isKnown ? cellSql(from, to, `as_of.${columnName(from)}`).value : `null::${typeOf(to).base}`;
    return `${value} as ${mergedColumn('base', to)}`;
  };
  const cells = [
    ...plan.shared.map(({ to }) => cell(to, base?.columns.has(to.lineage_id) === true)),
    ...plan.own.map((to) => cell(to, isTarget)),
  ];
  const columns = [...keysOf(plan), ...cells].join(', ');
  if (!base) return `select ${columns} from ${tableName(plan.target)} as_of where false`;
  const at = bind(base.at, 'timestamptz');
  if (isIncremental)
    return (
      `select ${columns} from ${historyName(base.table)} as_of where not as_of.svc_is_deleted and as_of.svc_updated_at <= ${at}` +
      ` and as_of.svc_valid_to > ${at} and as_of.svc_valid_to <= ${bind(plan.at, 'timestamptz')}`
    );
  return `select ${columns} from ${rowsSql(base.table, at)} where as_of.svc_live`;
}

const equal = (columns: Column[], one: (column: Column) => string, other: (column: Column) => string) =>
  columns.map((column) => `${one(column)} = ${other(column)}`).join(' and ');

const differ = (columns: Column[], one: 'source' | 'base' | 'target', other: 'source' | 'base' | 'target') =>
  columns.length === 0
    ? 'false'
    : `(${columns.map((column) => mergedColumn(one, column)).join(', ')}) is distinct from (${columns.map((column) => mergedColumn(other, column)).join(', ')})`;

const sharedColumns = ({ shared }: MergePlan) => shared.map(({ to }) => to);

function differenceSql(plan: MergePlan): string {
  const first = key(plan.key[0] as Column);
  const cells = [
    ...plan.shared.flatMap(({ to }) => [
      mergedColumn('source', to),
      mergedColumn('misfit', to),
      mergedColumn('base', to),
    ]),
    ...plan.own.map((column) => mergedColumn('base', column)),
  ];
  const keys = plan.key.map((column) => `coalesce(s.${key(column)}, b.${key(column)}) as ${key(column)}`);
  const sides = ['s.source_sk', `s.${first} is not null as in_source`, `b.${first} is not null as in_base`];
  return (
    `select ${[...keys, ...sides, ...cells].join(', ')} from s full join b` +
    ` on ${equal(
      plan.key,
      (column) => `s.${key(column)}`,
      (column) => `b.${key(column)}`,
    )}` +
    ` where s.${first} is null or b.${first} is null or ${differ(sharedColumns(plan), 'source', 'base')}`
  );
}

// The decisions of a row are found by the text of its key, as the conflict showed it.
function joinTargetSql(plan: MergePlan, bind: Bind): string {
  const beside = [...sharedColumns(plan), ...plan.own];
  const cells = beside.map((column) => `t.${columnName(column)} as ${mergedColumn('target', column)}`);
  const { rows } = plan.decisions;
  const decided =
    rows.length === 0
      ? ''
      : ` left join jsonb_to_recordset(${bind(JSON.stringify(rows.map(({ key: texts, sides }) => ({ texts, sides }))), 'jsonb')})` +
        ` as r (texts text[], sides jsonb) on r.texts = ${keyTextsSql(plan, 'd.')}`;
  return (
    `select d.*, ${['t.svc_sk as sk', ...cells, `${decided === '' ? 'null::jsonb' : 'r.sides'} as sides`, ...decisionColumns].join(', ')} from d` +
    ` left join ${tableName(plan.target)} t on t.svc_live and ${equal(
      plan.key,
      (column) => `t.${columnName(column)}`,
      (column) => `d.${key(column)}`,
    )}${decided}${joinDecisionsSql(plan, keyTextsSql(plan, 'd.'), bind)}`
  );
}

/** The key of a row as texts. */
export const keyTextsSql = ({ key: columns }: Pick<MergePlan, 'key'>, alias = ''): string =>
  `array[${columns.map((column) => typeOf(column).textSql(`${alias}${key(column)}`)).join(', ')}]`;

const decidedStates = { source: `'S'`, target: `'T'` } as const satisfies Record<Side, string>;

function decidedSql(plan: MergePlan, lineage: number): string {
  const general = plan.decisions.general.get(lineage);
  const otherwise = general === undefined ? `'?'` : decidedStates[general];
  if (plan.decisions.rows.length === 0) return otherwise;
  return `case sides->>'${lineage}' when 'source' then 'S' when 'target' then 'T' else ${otherwise} end`;
}

function statesSql(plan: MergePlan): string {
  const states = plan.shared.map(({ to }) => {
    const [s, b, t] = (['source', 'base', 'target'] as const).map((form) => mergedColumn(form, to));
    return (
      `case when not in_source or sk is null then 't' when ${s} is not distinct from ${t} then 't'` +
      ` when in_base and ${s} is not distinct from ${b} then 't' when in_base and ${t} is not distinct from ${b} then 's'` +
      ` else ${decidedSql(plan, to.lineage_id)} end as ${mergedColumn('state', to)}`
    );
  });
  const changed = differ([...sharedColumns(plan), ...plan.own], 'target', 'base');
  const row =
    `case when in_source and sk is not null then 't' when not in_source and sk is null then 't'` +
    ` when in_source and not in_base then 's' when not in_source and not (${changed}) then 's'` +
    ` else ${decidedSql(plan, rowItself)} end as row_state`;
  return `select *, ${[...states, row].join(', ')} from j`;
}

function outcomeSql(plan: MergePlan): string {
  const isTaken = ({ to }: Shared) => `${mergedColumn('state', to)} in ('s', 'S')`;
  const outcomes = plan.shared.map((column) => {
    const [s, t, o] = (['source', 'target', 'outcome'] as const).map((form) => mergedColumn(form, column.to));
    return `case when sk is null or ${isTaken(column)} then ${s} else ${t} end as ${o}`;
  });
  const updates = plan.shared.length === 0 ? 'false' : plan.shared.map(isTaken).join(' or ');
  const op =
    `case when in_source and sk is not null then case when ${updates} then 'u' else 'n' end` +
    ` when row_state not in ('s', 'S') then 'n' when in_source then 'c' else 'd' end as wanted_op`;
  return `select *, ${[...outcomes, op].join(', ')} from p`;
}

function conflictsSql(plan: MergePlan, isOne: (state: string) => string): string {
  const cells = plan.shared.map(({ to }) => `case when ${isOne(mergedColumn('state', to))} then ${to.lineage_id} end`);
  return `array_remove(array[case when ${isOne('row_state')} then ${rowItself} end, ${cells.join(', ') || 'null'}]::int[], null)`;
}
