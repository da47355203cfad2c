// The operations of a change request on one table, as one relation: each with its row as it is,
// the values that it would have, and what is wrong with the values themselves. The relation has
// the form that the questions of a batch read (`records/batch/batch-problems-sql.ts`). Pure.
import { type Problem, type ProblemCode, problemCodes } from '@almanac/service-kit/problems';
import { cellAfter, cellBefore, cellState, checkedLineages } from '../../records/batch/batch-problems-sql.ts';
import { hasCellSql, standingSql } from '../../rows/proposed-sql.ts';
import { applicationName, cellKey, columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { problemOf, requiredProblem, valueChecks } from '../../tables/column-rules.ts';
import { hierarchiesOf } from '../../tables/hierarchies.ts';
import { type Column, type DeployedTable, isRequired, keyColumns } from '../../tables/table.ts';
import type { Bind, Check } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import { isOfValue } from '../check-sql.ts';
import { cellConflictSql, rowConflictSql } from '../conflict-sql.ts';

/** What a change request does with one table. */
export type TablePart = {
  table: DeployedTable;
  /** The columns that an operation gives a value. */
  given: Column[];
  /** Lineages of columns that operations name and the table no longer has. */
  removed: number[];
};

/** The lineages that the operations of each table name: rows `table_definition_id`, `lineages`. */
export function namedLineagesSql(accountId: number, changeRequestId: number): Statement {
  // An aggregate over distinct values would sort a name for each cell.
  const named =
    `select distinct o.table_definition_id, k.key::int as lineage` +
    ` from change_request_operation o left join lateral jsonb_object_keys(o.cells) k(key) on true` +
    ` where o.account_id = $1::int and o.change_request_id = $2::int and ${standingSql('o')}`;
  return {
    text:
      `select table_definition_id, coalesce(array_agg(lineage order by lineage) filter (where lineage is not null), '{}') as lineages` +
      ` from (${named}) n group by 1 order by 1`,
    values: [accountId, changeRequestId],
  };
}

/** Divides the lineages that the operations on a table name. */
export function planPart(table: DeployedTable, lineages: readonly number[]): TablePart {
  const named = new Set(lineages);
  const given = table.structure.columns.filter(({ lineage_id }) => named.delete(lineage_id));
  return { table, given, removed: [...named] };
}

/** The columns of the relation that have the values before, the values after, and their states. */
function valueColumns({ table, given }: TablePart): Column[] {
  const checked = new Set(checkedLineages(table));
  return table.structure.columns.filter((column) => checked.has(column.lineage_id) || given.includes(column));
}

// The columns whose values can break a rule: what is given, and in a new or restored row others.
const ruledColumns = ({ table, given }: TablePart) =>
  table.structure.columns.filter(
    (column) => given.includes(column) || isRequired(column) || column.valid_values.length > 0,
  );

const has = (column: Column) => `has_${columnName(column)}`;
const text = (column: Column) => `text_${columnName(column)}`;
const broken = (column: Column) => `broken_${columnName(column)}`;
const conflict = (column: Column) => `conflict_${columnName(column)}`;
const own = (column: Column) => cellBefore(column.lineage_id);

const blank = -1;
const none = 'null::int';

/**
 * Collects the operations under `applicationName`: `place` (the operation), `id` (the row), `kind`,
 * `differs`, and what the questions of a batch read.
 */
export function gatherSql(part: TablePart, changeRequestId: number): Statement {
  const { table, given } = part;
  const values = new Values();
  const { bind } = values;
  const columns = [...new Set([...valueColumns(part), ...ruledColumns(part)])];
  const isGiven = (column: Column) => given.includes(column);
  const operations = [
    'o.id as place, o.kind, o.svc_sk as id, o.base_version',
    `o.kind = 'delete' as is_deleted, o.kind = 'restore' as is_restored`,
    't.svc_version, coalesce(t.svc_is_deleted, true) as was_deleted',
    `t.svc_sk is not null and o.kind in ('delete', 'restore') and ${rowConflictSql('o', 't')} as row_conflicts`,
    `${removedSql(part)} as removed`,
    `${keptSql(part, bind)} as kept`,
    ...columns.flatMap((column) => [
      `${isGiven(column) ? hasCellSql('o.cells', column) : 'false'} as ${has(column)}`,
      `${isGiven(column) ? `o.cells ->> ${cellKey(column)}` : 'null::text'} as ${text(column)}`,
      `t.${columnName(column)} as ${own(column)}`,
      ...(isGiven(column) ? [`${cellConflictSql('o', 't', column)} as ${conflict(column)}`] : []),
    ]),
  ];
  const from =
    `change_request_operation o left join ${tableName(table)} t on t.svc_sk = o.svc_sk` +
    ` where o.account_id = ${bind(table.account_id, 'int')} and o.change_request_id = ${bind(changeRequestId, 'int')}` +
    ` and o.table_definition_id = ${bind(table.table_definition_id, 'int')} and ${standingSql('o')} offset 0`;
  const checked = columns.map((column) => `${brokenSql(column, isGiven(column), bind)} as ${broken(column)}`);
  const outcome = columns.flatMap((column) => [
    `${newSql(column)} as ${cellAfter(column.lineage_id)}`,
    `${stateSql(column)} as ${cellState(column.lineage_id)}`,
  ]);
  const facts = [
    'place, kind, id, null::int as version, base_version, svc_version, was_deleted, is_deleted, is_restored',
    'row_conflicts, removed, kept',
    `kind <> 'update' or ${differsSql(given)} as differs`,
    `${numbersSql(ruledColumns(part).map((column) => [column, `${codeBase(table, column)} + ${broken(column)}`]))} as broken`,
    `${numbersSql(given.map((column) => [column, `case when ${conflict(column)} and ${broken(column)} is null then ${placeOf(table, column)} end`]))} as conflicts`,
    ...checkedOf(part).map(own),
    ...valueColumns(part).flatMap(({ lineage_id }) => [cellAfter(lineage_id), cellState(lineage_id)]),
  ];
  return {
    text:
      `create temporary table ${applicationName(table)} on commit drop as select ${facts.join(', ')} from (` +
      `select *${outcome.map((each) => `, ${each}`).join('')} from (` +
      `select *${checked.map((each) => `, ${each}`).join('')} from (select ${operations.join(', ')} from ${from}) o offset 0) o offset 0) o`,
    values: values.list,
    customPlan: true,
  };
}

const checkedOf = ({ table }: TablePart) => {
  const checked = new Set(checkedLineages(table));
  return table.structure.columns.filter(({ lineage_id }) => checked.has(lineage_id));
};

const removedSql = ({ removed }: TablePart) =>
  removed.length === 0
    ? 'false'
    : `o.cells ?| array[${removed.map((lineage_id) => cellKey({ lineage_id })).join(', ')}]`;

const rowCodes = (Object.keys(problemCodes) as ProblemCode[]).filter((code) => !isOfValue({ code, message: '' }));

// A value that broke a rule when it was proposed is not among the cells; its problem says so. What
// is missing in a new row is found again.
function keptSql({ table }: TablePart, bind: Bind): string {
  const lineages = Object.fromEntries(table.structure.columns.map(({ name, lineage_id }) => [name, lineage_id]));
  return (
    `case when o.problems <> '[]' and o.kind in ('create', 'update') then (select coalesce(jsonb_agg(p), '[]') from jsonb_array_elements(o.problems) p` +
    ` where p ? 'column' and p->>'code' <> all(${bind(rowCodes, 'text[]')}) and not (o.kind = 'create' and p->>'code' = 'blank')` +
    ` and not coalesce(o.cells ? (${bind(JSON.stringify(lineages), 'jsonb')} ->> (p->>'column')), false)) else '[]' end`
  );
}

// The number of the first rule that a value breaks.
function brokenSql(column: Column, isGiven: boolean, bind: Bind): string {
  const checks = valueChecks(column);
  const [value, present] = [text(column), own(column)];
  const missing = isRequired(column) ? String(blank) : none;
  const rules = () => checks.map((check, i) => `when ${check.brokenSql(value, bind)} then ${i}`).join(' ');
  const written = isGiven ? `when ${has(column)} and ${value} is not null then case ${rules()} end` : '';
  const isKept = () =>
    `exists (select from jsonb_array_elements(kept) k where k->>'column' = ${bind(column.name, 'text')})`;
  const absent = isRequired(column)
    ? `when ${has(column)} then ${blank} when kind = 'create' then case when kept <> '[]' and ${isKept()} then ${none} else ${blank} end`
    : `when ${has(column)} or kind = 'create' then ${none}`;
  const list = checks.length - 1;
  const restored =
    column.valid_values.length === 0
      ? `case when ${present} is null then ${missing} end`
      : `case when ${present} is null then ${missing} when ${present} <> all(${bind(column.valid_values, `${typeOf(column).base}[]`)}) then ${list} end`;
  return `case when kind = 'delete' then ${none} ${written} ${absent} when kind = 'restore' then ${restored} end`;
}

const newSql = (column: Column) =>
  `case when kind = 'delete' then null when ${has(column)} and ${broken(column)} is null then ${text(column)}::${typeOf(column).base}` +
  ` when ${has(column)} or kind = 'create' or ${broken(column)} is not null then null else ${own(column)} end`;

// As the questions of a batch have it: 0 not given, 1 given, 2 given and broken.
const stateSql = (column: Column) =>
  `case when kind in ('create', 'restore') or ${has(column)} then case when ${broken(column)} is null then 1 else 2 end else 0 end`;

const differsSql = (given: Column[]) =>
  given.length === 0
    ? 'false'
    : `(${given.map((column) => `(${has(column)} and ${cellAfter(column.lineage_id)} is distinct from ${own(column)})`).join(' or ')})`;

const numbersSql = (numbers: [Column, string][]) =>
  numbers.length === 0
    ? `'{}'::int[]`
    : `array_remove(array[${numbers.map(([, number]) => number).join(', ')}]::int[], null)`;

const placeOf = (table: DeployedTable, column: Column) => table.structure.columns.indexOf(column);

// A column has far fewer rules.
const codesPerColumn = 64;
const codeBase = (table: DeployedTable, column: Column) => placeOf(table, column) * codesPerColumn + 1;

/** The problem of a number in `broken`. */
export function brokenProblem({ structure }: DeployedTable, code: number): Problem {
  const column = structure.columns[Math.floor(code / codesPerColumn)] as Column;
  const rule = (code % codesPerColumn) - 1;
  return rule === blank ? requiredProblem(column) : problemOf(column, valueChecks(column)[rule] as Check);
}

/**
 * The indexes by which a walk over a hierarchy finds the operations of each step; none for a table
 * without hierarchies.
 */
export function gatheredIndexes({ table }: TablePart): string[] {
  if (hierarchiesOf(table).length === 0) return [];
  const name = applicationName(table);
  const keys = keyColumns(table.structure).map(({ lineage_id }) => cellAfter(lineage_id));
  return ['id', 'place', keys.join(', ')].map((columns) => `create index on ${name} (${columns})`);
}
