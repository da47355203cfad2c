// What differs between two sides, as one statement that returns the body of the answer: rows with
// the values of both sides, and counts. Pure.
//
// Each side is a relation of its live rows. Two instants of one table differ at most in the rows of
// which a version ended in between, so both relations are those rows alone; and a table differs
// from what operations would make of it at most in the rows that they touch.

import { filterSql } from '../pages/filter-sql.ts';
import { joinedSql, maxRecordBytes, mayOverflow } from '../rows/answer-size.ts';
import { answerableSql, rowsSql } from '../rows/as-of-sql.ts';
import {
  changedSql,
  dryRunOperations,
  type Operations,
  requestOperations,
  untouchedSql,
} from '../rows/proposed-sql.ts';
import { columnName, comparedColumn, historyName, tableName } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import type { Column } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import { areComparable, type Compared, type DifferencePlan, isOneTable } from './difference-plan.ts';
import type { DryRunSide, RequestSide, RowsSide, Side } from './sides.ts';

type Form = 'left' | 'right';

/** One row `answer`; none when a side can't be read, or is not what the plan was made for. */
export function differencesSql(plan: DifferencePlan): Statement {
  const values = new Values();
  const { bind } = values;
  const { left, right } = relationsSql(plan, bind);
  const readable = [plan.left, plan.right].map((side) => answerableSql(side.table, instantOf(side, bind), bind));
  return {
    text:
      `with l as (${left}), r as (${right}), d as materialized (${differenceSql(plan)})` +
      ` select ${answerSql(plan, bind)} as answer from (${countsSql(plan, bind)}) c where ${readable.join(' and ')}`,
    values: values.list,
    customPlan: true,
  };
}

const asOfOf = (side: Side) => (side.kind === 'rows' ? side.asOf : undefined);

function instantOf(side: Side, bind: Bind): string | undefined {
  const asOf = asOfOf(side);
  return asOf === undefined ? undefined : bind(asOf, 'timestamptz');
}

type Columns = Record<Form, string>;

/** The live rows of each side that may differ. */
function relationsSql(plan: DifferencePlan, bind: Bind): Record<Form, string> {
  const { left, right } = plan;
  const columns: Columns = { left: columnsSql(plan, 'left', bind), right: columnsSql(plan, 'right', bind) };
  const all = (form: Form) => `select ${columns[form]} from ${relationSql(plan[form], bind)} where as_of.svc_live`;
  if (!isOneTable(plan)) return { left: all('left'), right: all('right') };
  if (areSame(left, right)) {
    const none = (form: Form) => `select ${columns[form]} from ${tableName(plan[form].table)} as_of where false`;
    return { left: none('left'), right: none('right') };
  }
  if (left.kind === 'rows' && right.kind === 'rows') return betweenSql(left, right, columns, bind);
  if (left.kind !== 'rows' && isNow(right)) return touchedSql(plan, { form: 'left', side: left }, columns, bind);
  if (right.kind !== 'rows' && isNow(left)) return touchedSql(plan, { form: 'right', side: right }, columns, bind);
  return { left: all('left'), right: all('right') };
}

const isNow = (side: Side) => side.kind === 'rows' && side.asOf === undefined;

function areSame(left: Side, right: Side): boolean {
  if (left.kind === 'rows') return right.kind === 'rows' && left.asOf === right.asOf;
  if (left.kind === 'dry_run') return right.kind === 'dry_run' && left.dryRun.loadId === right.dryRun.loadId;
  return right.kind === 'change_request' && left.through.changeRequestId === right.through.changeRequestId;
}

/** The rows of one table of which a version ended between two instants. */
function betweenSql(left: RowsSide, right: RowsSide, columns: Columns, bind: Bind): Record<Form, string> {
  const sides = { left, right };
  const [older, newer]: [Form, Form] = isBefore(left.asOf, right.asOf) ? ['left', 'right'] : ['right', 'left'];
  const from = bind(sides[older].asOf, 'timestamptz');
  const until = instantOf(sides[newer], bind);
  const superseded =
    `select ${columns[older]} from ${historyName(left.table)} as_of where not as_of.svc_is_deleted` +
    ` and as_of.svc_updated_at <= ${from} and as_of.svc_valid_to > ${from}` +
    (until === undefined ? '' : ` and as_of.svc_valid_to <= ${until}`);
  const changed = `select ${columns[newer]} from ${relationSql(sides[newer], bind)} where as_of.svc_live and as_of.svc_updated_at > ${from}`;
  return older === 'left' ? { left: superseded, right: changed } : { left: changed, right: superseded };
}

const isBefore = (some: string | undefined, other: string | undefined) =>
  some !== undefined && (other === undefined || Date.parse(some) < Date.parse(other));

type Proposed = { form: Form; side: RequestSide | DryRunSide };

/**
 * The rows of one table that operations touch, as they are and as they would be. A row whose key a
 * new one has taken is among them, so that the two are matched.
 */
function touchedSql(
  { key }: DifferencePlan,
  { form, side }: Proposed,
  columns: Columns,
  bind: Bind,
): Record<Form, string> {
  const { table } = side;
  const operations = operationsOf(side, bind);
  const changed = changedSql(table, operations);
  const alike = key.map((pair) => `t.${columnName(pair[form])} = c.${columnName(pair[form])}`).join(' and ');
  const touched =
    `select o.svc_sk from ${operations.relation} o where ${operations.conditionSql('o')}` +
    (key.length === 0
      ? ''
      : ` union all select t.svc_sk from (${changed}) c join ${tableName(table)} t on ${alike} where c.svc_live and t.svc_live`);
  const other: Form = form === 'left' ? 'right' : 'left';
  const proposed = `select ${columns[form]} from (${changed}) as_of where as_of.svc_live`;
  const present = `select ${columns[other]} from ${tableName(table)} as_of where as_of.svc_live and as_of.svc_sk in (${touched})`;
  return form === 'left' ? { left: proposed, right: present } : { left: present, right: proposed };
}

const operationsOf = (side: RequestSide | DryRunSide, bind: Bind): Operations =>
  side.kind === 'dry_run'
    ? dryRunOperations(side.table, side.dryRun, bind)
    : requestOperations(side.table, side.through, bind);

// A relation of the past has the name `as_of` (`rows/as-of-sql.ts`), and so has every other one
// here.
function relationSql(side: Side, bind: Bind): string {
  if (side.kind !== 'rows') {
    const operations = operationsOf(side, bind);
    return `(${untouchedSql(side.table, operations)} union all ${changedSql(side.table, operations)}) as_of`;
  }
  const at = instantOf(side, bind);
  return at === undefined ? `${rowsSql(side.table, at)} as_of` : rowsSql(side.table, at);
}

function columnsSql({ key, compared, filters }: DifferencePlan, form: Form, bind: Bind): string {
  const own = [...key, ...compared].map((pair) => `as_of.${columnName(pair[form])}`);
  const matched = filters ? [`${filterSql(filters[form], bind)} as matched`] : [];
  return ['as_of.svc_sk', ...own, ...matched].join(', ');
}

/** Values of types that don't compare with each other are compared as texts. */
function differSql(pair: Compared, left: string, right: string): string {
  if (areComparable(pair)) return `${left} is distinct from ${right}`;
  return `${typeOf(pair.left).textSql(left)} is distinct from ${typeOf(pair.right).textSql(right)}`;
}

const kindSql = `case when id_left is null then 'created' when id_right is null then 'deleted' else 'updated' end`;

function differenceSql({ key, compared, filters }: DifferencePlan): string {
  const keys = key.map(
    ({ right }) => `coalesce(l.${columnName(right)}, r.${columnName(right)}) as ${comparedColumn('key', right)}`,
  );
  const cells = compared.flatMap(({ right }) => [
    `l.${columnName(right)} as ${comparedColumn('left', right)}`,
    `r.${columnName(right)} as ${comparedColumn('right', right)}`,
  ]);
  const on =
    key.length === 0
      ? 'l.svc_sk = r.svc_sk'
      : key.map(({ right }) => `l.${columnName(right)} = r.${columnName(right)}`).join(' and ');
  const differ = compared.map((pair) => differSql(pair, `l.${columnName(pair.left)}`, `r.${columnName(pair.right)}`));
  const where = `(${['l.svc_sk is null', 'r.svc_sk is null', ...differ].join(' or ')})${filters ? ' and (l.matched or r.matched)' : ''}`;
  return (
    `select *, ${kindSql} as kind from (select ${[...keys, 'l.svc_sk as id_left', 'r.svc_sk as id_right', ...cells].join(', ')}` +
    ` from l full join r on ${on} where ${where}) joined`
  );
}

const differsIn = (pair: Compared) =>
  differSql(pair, comparedColumn('left', pair.right), comparedColumn('right', pair.right));

function countsSql({ compared, kinds }: DifferencePlan, bind: Bind): string {
  const columns = compared.map((pair) => `count(*) filter (where kind = 'updated' and ${differsIn(pair)})`);
  const ofKind = (kind: string) => `count(*) filter (where kind = '${kind}') as ${kind}`;
  return (
    `select ${[...['created', 'updated', 'deleted'].map(ofKind), `count(*) filter (where kind = any(${bind(kinds, 'text[]')})) as shown`].join(', ')},` +
    ` array[${columns.join(', ')}]::bigint[] as columns from d`
  );
}

const label = (name: string, bind: Bind) => bind(JSON.stringify(name), 'text');
const namesSql = (columns: Column[], bind: Bind) => bind(JSON.stringify(columns.map(({ name }) => name)), 'text');

function answerSql(plan: DifferencePlan, bind: Bind): string {
  const { key, compared, kinds, offset, limit, left, right } = plan;
  const order = key.map((pair) => comparedColumn('key', pair.right));
  const shown =
    `(select * from d where kind = any(${bind(kinds, 'text[]')}) order by ${[...order, 'coalesce(id_left, id_right)'].join(', ')}` +
    ` limit ${bind(limit, 'int')} offset ${bind(offset, 'bigint')}) p`;
  // A row has each name at most three times.
  const rowBytes = 2 * maxRecordBytes(left.table) + 2 * maxRecordBytes(right.table);
  const columns = compared.map(
    ({ right: column }, i) =>
      `case when columns[${i + 1}] > 0 then ${label(column.name, bind)} || ':' || columns[${i + 1}] end`,
  );
  return concatSql([
    `'{"rows":['`,
    joinedSql(rowSql(plan, bind), shown, mayOverflow(limit, rowBytes)),
    `'],"rowCount":'`,
    'c.shown',
    `',"counts":{"created":' || c.created || ',"updated":' || c.updated || ',"deleted":' || c.deleted || ',"columns":{'`,
    columns.length === 0 ? `''` : `array_to_string(array[${columns.join(', ')}], ',')`,
    `'}},"columns_left_only":'`,
    namesSql(plan.leftOnly, bind),
    `',"columns_right_only":'`,
    namesSql(plan.rightOnly, bind),
    `'}'`,
  ]);
}

/** The JSON of a value in `concat`; null becomes null. */
function cellSql(column: Column, x: string, isExact: boolean | undefined): string[] {
  return [`case when ${x} is null then 'null' end`, typeOf(column).jsonSql(x, isExact)];
}

type Shown = Pick<DifferencePlan, 'key' | 'compared' | 'left' | 'right'>;

/** The JSON object of the key of a row that differs. */
export function keySql({ key, right }: Shown, bind: Bind): string {
  const cells = key.flatMap(({ right: column }, i) => [
    i === 0 ? `''` : `','`,
    label(column.name, bind),
    `':'`,
    ...cellSql(column, comparedColumn('key', column), right.table.structure.exact_numbers),
  ]);
  return concatSql([`'{'`, ...cells, `'}'`]);
}

/** The JSON object of its values on both sides, where they differ. */
export function cellsSql({ compared, left, right }: Shown, bind: Bind): string {
  if (compared.length === 0) return `'{}'`;
  const cells = compared.map((pair) => {
    const json = concatSql([
      label(pair.right.name, bind),
      `':{"from":'`,
      ...cellSql(pair.left, comparedColumn('left', pair.right), left.table.structure.exact_numbers),
      `',"to":'`,
      ...cellSql(pair.right, comparedColumn('right', pair.right), right.table.structure.exact_numbers),
      `'}'`,
    ]);
    return `case when ${differsIn(pair)} then ${json} end`;
  });
  return `'{' || array_to_string(array[${cells.join(', ')}], ',') || '}'`;
}

function rowSql(plan: DifferencePlan, bind: Bind): string {
  return concatSql([
    `'{"kind":"' || kind || '","key":'`,
    plan.key.length === 0 ? `'{"svc_sk":' || coalesce(id_left, id_right) || '}'` : keySql(plan, bind),
    `',"id_left":' || coalesce(id_left::text, 'null') || ',"id_right":' || coalesce(id_right::text, 'null') || ',"cells":'`,
    cellsSql(plan, bind),
    `'}'`,
  ]);
}

/**
 * Equal for the same question about the rows of one table, whatever they are; undefined for another
 * question.
 */
export function differenceKey(plan: DifferencePlan): string | undefined {
  const { left, right, compared, kinds, filters, offset, limit } = plan;
  if (!isOneTable(plan) || left.kind !== 'rows' || right.kind !== 'rows') return undefined;
  const values = new Values();
  const where = filters && filterSql(filters.right, values.bind);
  const columns = compared.map((pair) => pair.right.lineage_id);
  return JSON.stringify(['diff', left.asOf, right.asOf, columns, kinds, where, values.list, offset, limit]);
}
