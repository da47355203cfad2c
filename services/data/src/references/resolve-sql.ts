// The statement that finds records by the labels under which people know them. Pure.
import { blanks } from '../pages/filter-sql.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';

/**
 * What labels stand for. `shown`: the column with the labels; `key`: its columns, each with
 * the name of the column that refers to it.
 */
export type LabelPlan = { target: DeployedTable; shown: Column; key: { column: Column; referring?: string }[] };

/**
 * A record of a label, by the label's place from 1. `key`, `values`: JSON objects; `total`: how
 * many records the label has.
 */
export type LabelMatch = { place: number; id: number; key: string; values: string; display: string; total: number };

/** Of an ambiguous label. */
const maxMatches = 10;
const maxDisplayLength = 255;

/**
 * One row `LabelMatch` for each record with a label, the first ten of each; one row without a place
 * when there is none, and no row when a table has changed. A record whose label differs in case or
 * blanks counts only where none has the very label.
 */
export function resolveSql(table: DeployedTable, plan: LabelPlan, labels: string[]): Statement {
  const values = new Values();
  const { bind } = values;
  const { target, shown, key } = plan;
  const text = typeOf(shown).textSql(`t.${columnName(shown)}`);
  const folded = (x: string) =>
    `lower(btrim(regexp_replace(${x}, ${bind(`[${blanks}]+`, 'text')}, ' ', 'g')) collate "default")`;
  const found =
    `select g.place, t.svc_sk as id, ${text} as display, ${text} = g.label as is_exact,` +
    ` ${objectSql(
      key.map(({ column }) => ({ name: column.name, column })),
      bind,
    )} as key,` +
    ` ${objectSql(
      key.flatMap(({ column, referring }) => (referring ? { name: referring, column } : [])),
      bind,
    )} as values` +
    ` from given g join ${tableName(target)} t on ${folded(text)} = g.folded where t.svc_live`;
  const current = [...new Set([table, target])].map((each) => currentSql(each, bind)).join(' and ');
  return {
    text:
      `with given as materialized (select label, place, ${folded('label')} as folded from unnest(${bind(labels, 'text[]')}) with ordinality l(label, place)),` +
      ` found as (select *, bool_or(is_exact) over (partition by place) as has_exact from (${found}) found),` +
      ` ranked as (select *, count(*) over (partition by place) as total, row_number() over (partition by place order by id) as rank from found where is_exact or not has_exact)` +
      ` select r.place, r.id, r.key, r.values, left(r.display, ${maxDisplayLength}) as display, r.total` +
      ` from (select true as is_current where ${current}) c left join ranked r on r.rank <= ${maxMatches} order by r.place, r.id`,
    values: values.list,
    customPlan: true,
  };
}

/** The JSON object of some columns of a row `t`. */
function objectSql(members: { name: string; column: Column }[], bind: Bind): string {
  const parts = members.flatMap(({ name, column }, i) => [
    bind(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, 'text'),
    typeOf(column).jsonSql(`t.${columnName(column)}`),
  ]);
  return concatSql(parts.length === 0 ? ["'{}'"] : [...parts, "'}'"]);
}
