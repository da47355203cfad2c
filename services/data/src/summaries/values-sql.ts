// The distinct values of a column among the selected rows, as one statement that returns the body
// of the answer. Pure.

import type { RowSelection } from '../pages/filter.ts';
import { joinedSql } from '../rows/answer-size.ts';
import type { Field } from '../rows/fields.ts';
import { type Reading, readableSql } from '../rows/reading.ts';
import { concatSql, type Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import { countedSql, jsonTextSql, labelTextSql, startWithRows } from './selected-rows-sql.ts';

/** `label`: of the record that a value refers to. */
export type ValuesPlan = RowSelection & { field: Field; label?: Field; limit: number };

/** One row with a text column `answer`; the most frequent values first, then in their order. */
export function valuesSql(table: DeployedTable, plan: ValuesPlan, reading: Reading): Statement {
  const { field, label, limit } = plan;
  const { values, at, from, where, fields } = startWithRows(table, plan, [field], reading);
  const { bind } = values;
  const { exact_numbers: exactNumbers } = table.structure;
  const max = bind(limit, 'int');
  const groups = `select value, count(*) as n from (select ${fields.map(countedSql)} as value from ${from}${where}) r group by value`;
  const item = concatSql([
    `'{"value":'`,
    jsonTextSql(field, 'value', exactNumbers),
    ...(label ? [`',"label":'`, labelTextSql(label, 'value', at, exactNumbers)] : []),
    `',"count":'`,
    'n',
    `'}'`,
  ]);
  const first = `(select * from counted order by n desc, value asc nulls first limit ${max}) v`;
  return {
    text:
      `with counted as materialized (${groups})` +
      ` select concat('{"values":[', ${joinedSql(item, first, true)}, '],"distinct":', c, ',"truncated":', case when c > ${max} then 'true' else 'false' end, '}') as answer` +
      ` from (select count(*) from counted) as every(c) where ${readableSql(table, reading, at, bind)}`,
    values: values.list,
    customPlan: true,
  };
}
