// Which rules of today deleted rows would break if they were restored: queried when the database
// has refused to restore them. Pure.

import type { Problem } from '@almanac/service-kit/problems';
import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { problemOf, requiredProblem, valueChecks } from '../../tables/column-rules.ts';
import { type Column, type DeployedTable, isRequired, keyColumns } from '../../tables/table.ts';
import type { Bind, Check } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import { foreignKeyProblem, keyProblem } from '../constraint-sql.ts';

type Question = { condition: string; problem: Problem };

/**
 * One row per deleted row that breaks a rule: `id`, and `broken`, a boolean for each of `problems`.
 */
export function restoreProblemsSql(table: DeployedTable, ids: string[]): { statement: Statement; problems: Problem[] } {
  const values = new Values();
  const list = values.bind(ids, 'bigint[]');
  const questions = [
    ...keyQuestions(table, list),
    ...foreignKeyQuestions(table, list),
    ...table.structure.columns.flatMap((column) => cellQuestions(column, `t.${columnName(column)}`, values.bind)),
  ];
  const broken = questions.map(({ condition }) => condition);
  return {
    statement: {
      text:
        `select * from (select t.svc_sk as id, array[${['false', ...broken].join(', ')}] as broken from ${tableName(table)} t` +
        ` where t.svc_sk = any(${list}) and t.svc_is_deleted) checked where true = any(broken) order by id limit 100`,
      values: values.list,
    },
    problems: questions.map(({ problem }) => problem),
  };
}

/** The rules of today that a value `x` of the column may break, as earlier ones allowed it. */
export function cellQuestions(column: Column, x: string, bind: Bind): Question[] {
  const questions: Question[] = [];
  if (isRequired(column)) questions.push({ condition: `${x} is null`, problem: requiredProblem(column) });
  if (column.valid_values.length > 0) {
    const list = bind(column.valid_values, `${typeOf(column).base}[]`);
    const problem = problemOf(column, valueChecks(column).at(-1) as Check);
    questions.push({ condition: `coalesce(${x} <> all(${list}), false)`, problem });
  }
  return questions;
}

// A live row has the key, or another of the rows to restore.
function keyQuestions(table: DeployedTable, list: string): Question[] {
  const key = keyColumns(table.structure);
  if (key.length === 0) return [];
  const equal = key.map((column) => `o.${columnName(column)} = t.${columnName(column)}`).join(' and ');
  const condition =
    `exists (select from ${tableName(table)} o where ${equal} and o.svc_sk <> t.svc_sk` +
    ` and (o.svc_live or o.svc_sk = any(${list})))`;
  return [{ condition, problem: keyProblem(table) }];
}

// A record may refer to one that is restored with it, or to itself.
function foreignKeyQuestions(table: DeployedTable, list: string): Question[] {
  return table.structure.foreign_keys.map((foreignKey): Question => {
    const { columns, target_columns, target_lineage_id } = foreignKey;
    const own = columns.map((lineage_id) => `t.${columnName({ lineage_id })}`);
    const equal = target_columns.map((lineage_id, i) => `r.${columnName({ lineage_id })} = ${own[i]}`).join(' and ');
    const back = target_lineage_id === table.lineage_id ? ` or r.svc_sk = any(${list})` : '';
    const target = tableName({ branch_id: table.branch_id, lineage_id: target_lineage_id });
    const given = own.map((x) => `${x} is not null`).join(' and ');
    return {
      condition: `${given} and not exists (select from ${target} r where ${equal} and (r.svc_live${back}))`,
      problem: foreignKeyProblem(table, foreignKey),
    };
  });
}
