// The problems of stored operations: the questions of a batch (`records/batch/`), asked about all
// operations that a request has on a table and on those that refer to each other with it, and the
// conflicts with rows that others have changed. Pure.
import type { Problem, ProblemCode } from '@almanac/service-kit/problems';
import {
  type Beside,
  cellState,
  checkedLineages,
  foundSql,
  givenCell,
  operationsSql,
  ownOperations,
  questionsOf,
  type Rule,
} from '../records/batch/batch-problems-sql.ts';
import type { Referrer } from '../records/constraint-sql.ts';
import { cellSql, hasCellSql, mayTouchSql, ofRequestSql, standingSql } from '../rows/proposed-sql.ts';
import { operationsName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, getColumn } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import {
  cellConflictProblem,
  cellConflictSql,
  notDeletedProblem,
  rowConflictProblem,
  rowConflictSql,
} from './conflict-sql.ts';

/** The problems that depend on other rows; those of the values of an operation stay with it. */
export const ofRows: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'not_found',
  'version_conflict',
  'taken',
  'invalid_reference',
  'still_referenced',
  'cycle',
  'wrong_state',
]);

export const isOfValue = ({ code }: Problem): boolean => !ofRows.has(code);

/** `around`: the other tables of the branch that refer to the table, or that it refers to. */
export type Checked = { table: DeployedTable; referring: Referrer[]; around: DeployedTable[] };

/**
 * One row `place`, `question`, `other`, `row` for each problem of these operations, of which the
 * place is the id; no row at all, but for `place` 0 while the table is as its entry says.
 */
export function checkSql(
  { table, referring, around }: Checked,
  changeRequestId: number,
  ids: number[],
): { statement: Statement; questions: Rule[] } {
  const { bind, list } = new Values();
  const some = bind(ids, 'bigint[]');
  const relation = (alias: string, of: DeployedTable, among: (operation: string) => string) =>
    operationsSql(
      alias,
      of,
      checkedLineages(of),
      storedSql(of, changeRequestId, bind, (operation) => `${standingSql(operation)} and ${among(operation)}`),
    );
  const isNamed = (operation: string) => `${operation}.id = any(${some})`;
  const beside: Beside = new Map(around.map((other) => [other.lineage_id, operationsName(other)]));
  const questions = [
    ...questionsOf(table, referring, beside),
    ...conflictQuestions(
      table,
      (operation) => `${ofRequestSql(operation, table, changeRequestId, bind)} and ${isNamed(operation)}`,
    ),
  ];
  const relations = [
    relation(ownOperations, table, (operation) => `(${isNamed(operation)} or ${concernsOthersSql(table)(operation)})`),
    ...around.map((other) => relation(operationsName(other), other, concernsOthersSql(other))),
  ];
  return {
    statement: {
      text:
        // Found once: a plan for few operations would ask all questions again for each of many.
        `with ${relations.join(', ')}, found as materialized (select * from (${foundSql(questions)}) f where f.place = any(${some}))` +
        ` select f.place, f.question, f.other, o.id::text as row from found f join ${ownOperations} o on o.place = f.place` +
        ` union all select 0, 0, 0, null where ${currentSql(table, bind)}`,
      values: list,
      customPlan: true,
    },
    questions,
  };
}

/**
 * Operations that rows of others can depend on: those of a whole row, and changes of its key or of
 * what it refers to. Most changes name neither, and are none of them.
 */
export const concernsOthersSql =
  (table: DeployedTable) =>
  (operation: string): string =>
    mayTouchSql(
      operation,
      checkedLineages(table).map((lineage_id) => ({ lineage_id })),
    );

/**
 * Those operations `among` which a request has on a table, as a relation `a` for `operationsSql`.
 * A broken value is not among the cells; the problem that it has says so.
 */
export function storedSql(
  table: DeployedTable,
  changeRequestId: number,
  bind: Bind,
  among: (operation: string) => string,
): string {
  const cells = checkedLineages(table).flatMap((lineage) => {
    const column = getColumn(table.structure, lineage);
    return [
      `(${cellSql('s.cells', column)})::${typeOf(column).base} as ${givenCell(lineage)}`,
      `case when s.kind = 'restore' or ${hasCellSql('s.cells', column)} then 1 else 0 end as ${cellState(lineage)}`,
    ];
  });
  const facts = [
    's.id as place',
    's.svc_sk as id',
    'null::int as version',
    `s.kind = 'delete' as is_deleted`,
    `s.kind = 'restore' as is_restored`,
  ];
  return (
    `(select ${[...facts, ...cells].join(', ')} from change_request_operation s` +
    ` where ${ofRequestSql('s', table, changeRequestId, bind)} and ${among('s')}) a`
  );
}

function conflictQuestions(table: DeployedTable, among: (operation: string) => string): Rule[] {
  const rows =
    `from change_request_operation c left join ${tableName(table)} t on t.svc_sk = c.svc_sk` +
    ` where ${among('c')} and ${standingSql('c')}`;
  const { columns } = table.structure;
  return [
    {
      sql: `select c.id as place, 0 as other ${rows} and ${rowConflictSql('c', 't')} and t.svc_sk is not null and not (c.kind = 'update')`,
      problem: rowConflictProblem,
    },
    {
      sql: `select c.id as place, 0 as other ${rows} and c.kind = 'restore' and not t.svc_is_deleted`,
      problem: notDeletedProblem,
    },
    {
      sql:
        `select c.id as place, q.place as other from change_request_operation c join ${tableName(table)} t on t.svc_sk = c.svc_sk` +
        ` cross join lateral (values ${columns.map((column, i) => `(${i}, ${cellConflictSql('c', 't', column)})`).join(', ')}) q(place, is_one)` +
        ` where ${among('c')} and ${standingSql('c')} and q.is_one`,
      problem: (operation, place) => cellConflictProblem(operation, columns[place] as Column),
    },
  ];
}
