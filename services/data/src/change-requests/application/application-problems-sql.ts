// The rules of an application: the questions of a batch about the gathered operations of all
// tables at once, and those of a change request alone. Problems are collected in one relation, by
// operation. Pure.
import type { Problem } from '@almanac/service-kit/problems';
import {
  type Beside,
  cellAfter,
  cellState,
  foundSql,
  ownOperations,
  questionsOf,
  type Rule,
} from '../../records/batch/batch-problems-sql.ts';
import { referrersOf } from '../../records/constraint-sql.ts';
import { standingSql } from '../../rows/proposed-sql.ts';
import { applicationName, columnName, operationProblemsName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { hierarchiesOf, hierarchyProblem, namesOf } from '../../tables/hierarchies.ts';
import { type Column, type DeployedTable, type ForeignKey, getColumn } from '../../tables/table.ts';
import { cellConflictProblem, notDeletedProblem, rowConflictProblem } from '../conflict-sql.ts';
import { brokenProblem, type TablePart } from './gathered-operations-sql.ts';

/** The rules of one table. `statement` adds its problems. */
export type PartRules = { statement: Statement; questions: Rule[] };

/** The relation of the problems: `question` and `other`, or the problem itself. */
export const createProblemsSql =
  `create temporary table ${operationProblemsName}` +
  ' (place bigint, table_definition_id int, question int, other bigint, problem jsonb) on commit drop';

/** `branch`: the deployed tables of the branch. */
export function rulesOf(part: TablePart, parts: TablePart[], branch: DeployedTable[]): PartRules {
  const { table } = part;
  const others = parts.filter((other) => other !== part);
  const beside: Beside = new Map(others.map((other) => [other.table.lineage_id, applicationName(other.table)]));
  const questions: Rule[] = [
    ...questionsOf(table, referrersOf(table, branch), beside),
    ...requestQuestions(table),
    ...hierarchiesOf(table).map((hierarchy) => cycleQuestion(table, hierarchy)),
  ];
  const { bind, list } = new Values();
  const definition = bind(table.table_definition_id, 'int');
  // Inlined, so that its statistics and indexes count.
  const operations = `with ${ownOperations} as not materialized (select * from ${applicationName(table)})`;
  return {
    questions,
    statement: {
      text:
        `insert into ${operationProblemsName} (place, table_definition_id, question, other, problem) ${operations}` +
        ` select place, ${definition}, question, other, null::jsonb from (${foundSql(questions)}) found` +
        ` union all select place, ${definition}, null, null, k from ${ownOperations}, jsonb_array_elements(kept) k where kept <> '[]'`,
      values: list,
      customPlan: true,
    },
  };
}

function requestQuestions(table: DeployedTable): Rule[] {
  return [
    {
      sql: `select place, 0 as other from ${ownOperations} where removed`,
      problem: () => ({
        code: 'unknown_property',
        message: 'the operation gives a value to a column that the table no longer has',
      }),
    },
    {
      sql: `select place, unnest(broken) as other from ${ownOperations} where broken <> '{}'`,
      problem: (_, code) => brokenProblem(table, code),
    },
    {
      sql: `select place, svc_version as other from ${ownOperations} where row_conflicts and (was_deleted or not is_restored)`,
      problem: (operation, version) => ({ ...rowConflictProblem(operation), params: { version } }),
    },
    {
      sql: `select place, 0 as other from ${ownOperations} where is_restored and not was_deleted`,
      problem: notDeletedProblem,
    },
    {
      sql: `select place, unnest(conflicts) as other from ${ownOperations} where conflicts <> '{}'`,
      problem: (operation, place) => cellConflictProblem(operation, table.structure.columns[place] as Column),
    },
  ];
}

// Walks up from the rows that newly refer to another, or take a key, over all rows as they would
// be. New rows have the negative number of their operation.
function cycleQuestion(table: DeployedTable, hierarchy: ForeignKey): Rule {
  const { columns, target_columns } = hierarchy;
  const refers = columns.map(cellAfter);
  const parentIs = (values: (i: number) => string) => (key: (lineage: number) => string) =>
    target_columns.map((lineage, i) => `${key(lineage)} = ${values(i)}`).join(' and ');
  const parentSql = (values: (i: number) => string) => {
    const isParent = parentIs(values);
    return (
      `cross join lateral (select coalesce(m.id, -m.place) as sk from ${ownOperations} m where not m.is_deleted and ${isParent((lineage) => `m.${cellAfter(lineage)}`)}` +
      ` union all select p.svc_sk from ${tableName(table)} p where p.svc_live and ${isParent((lineage) => `p.${columnName({ lineage_id: lineage })}`)}` +
      ` and not exists (select from ${ownOperations} m where m.id = p.svc_sk) offset 0) parent`
    );
  };
  const references = [
    `select ${refers.map((name) => `m.${name}`).join(', ')} from ${ownOperations} m where m.id = u.parent`,
    `select ${refers.map((name) => `m.${name}`).join(', ')} from ${ownOperations} m where u.parent < 0 and m.place = -u.parent`,
    `select ${columns.map((lineage_id) => `t.${columnName({ lineage_id })}`).join(', ')} from ${tableName(table)} t` +
      ` where t.svc_sk = u.parent and not exists (select from ${ownOperations} m where m.id = t.svc_sk)`,
  ];
  const given = [...new Set([...columns, ...target_columns])];
  const sets = given.map((lineage) => `c.${cellState(lineage)} = 1`).join(' or ');
  const names = namesOf(table, hierarchy);
  return {
    sql:
      `with recursive up(child, parent) as (select coalesce(c.id, -c.place), parent.sk from ${ownOperations} c ${parentSql((i) => `c.${refers[i]}`)}` +
      ` where not c.is_deleted and (${sets})` +
      ` union select u.parent, parent.sk from up u cross join lateral (${references.join(' union all ')} offset 0) r(${refers.join(', ')}) ${parentSql((i) => `r.${refers[i]}`)})` +
      ` select o.place, 0 as other from (select unnest(rows_on_cycles(array_agg(child), array_agg(parent))) as sk from up) y` +
      ` join ${ownOperations} o on coalesce(o.id, -o.place) = y.sk`,
    problem: () => ({
      code: 'cycle',
      message: hierarchyProblem(names),
      column: getColumn(table.structure, columns[0] as number).name,
    }),
  };
}

/** Adds the problem of operations on tables that are not deployed on the branch. */
export function undeployedSql(accountId: number, changeRequestId: number, tables: number[]): Statement {
  const problem: Problem = { code: 'not_found', message: 'the table is not deployed on the branch' };
  return {
    text:
      `insert into ${operationProblemsName} (place, table_definition_id, problem)` +
      ` select o.id, o.table_definition_id, $4::jsonb from change_request_operation o where o.account_id = $1::int` +
      ` and o.change_request_id = $2::int and o.table_definition_id = any($3::int[]) and ${standingSql('o')}`,
    values: [accountId, changeRequestId, tables, JSON.stringify(problem)],
  };
}

/** A problem as it was found. `row`: that of the operation. */
export type FoundProblem = {
  place: number;
  table_definition_id: number;
  question: number | null;
  other: number | null;
  problem: Problem | null;
  row: string | null;
};

/** The first problems by operation, but for those of `hidden` tables: rows `FoundProblem`. */
export function firstProblemsSql(changeRequest: Request, limit: number, hidden: number[]): Statement {
  return {
    text:
      `select p.*, o.svc_sk::text as row from (select * from ${operationProblemsName} where table_definition_id <> all($3::int[])` +
      ` order by place, question limit $4::int) p join change_request_operation o on o.account_id = $1::int and o.change_request_id = $2::int and o.id = p.place` +
      ` order by p.place, p.question`,
    values: [changeRequest.account_id, changeRequest.id, hidden, limit],
  };
}

/** How many there are: one row `count`. */
export const countProblemsSql = (hidden: number[]): Statement => ({
  text: `select count(*) as count from ${operationProblemsName} where table_definition_id <> all($1::int[])`,
  values: [hidden],
});

type Request = { id: number; account_id: number };

/** The problems of the next operations after `after`: rows `place`, `found` (of `FoundProblem`). */
export function nextProblemsSql(changeRequest: Request, afterPlace: number, operations: number): Statement {
  return {
    text:
      `select p.place, json_agg(json_build_object('place', p.place, 'table_definition_id', p.table_definition_id, 'question', p.question, 'other', p.other,` +
      ` 'problem', p.problem, 'row', o.svc_sk::text) order by p.question) as found from ${operationProblemsName} p` +
      ` join change_request_operation o on o.account_id = $1::int and o.change_request_id = $2::int and o.id = p.place` +
      ` where p.place > $3::bigint group by p.place order by p.place limit $4::int`,
    values: [changeRequest.account_id, changeRequest.id, afterPlace, operations],
  };
}

/** Keeps problems with their operations. */
export function keepProblemsSql(changeRequest: Request, problems: { id: number; problems: Problem[] }[]): Statement {
  return {
    text:
      `update change_request_operation o set problems = g.problems from jsonb_to_recordset($3::jsonb) g(id bigint, problems jsonb)` +
      ` where o.account_id = $1::int and o.change_request_id = $2::int and o.id = g.id and o.problems <> g.problems`,
    values: [changeRequest.account_id, changeRequest.id, JSON.stringify(problems)],
  };
}

/** Takes the problems of operations that have none any more. */
export function clearProblemsSql(changeRequest: Request): Statement {
  return {
    text:
      `update change_request_operation o set problems = '[]' where o.account_id = $1::int and o.change_request_id = $2::int` +
      ` and o.problems <> '[]' and ${standingSql('o')} and not exists (select from ${operationProblemsName} p where p.place = o.id)`,
    values: [changeRequest.account_id, changeRequest.id],
  };
}
