// The place of a row in a filtered, sorted list, as one statement that returns the body of the
// answer. Pure.

import type { RowSelection, Sort } from '../pages/filter.ts';
import { sortedSql } from '../pages/filter-sql.ts';
import { systemFields } from '../rows/fields.ts';
import { type Reading, readableSql } from '../rows/reading.ts';
import type { Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import { startWithRows } from './selected-rows-sql.ts';

/** `id`: the `svc_sk` of the row. */
export type PositionPlan = RowSelection & { sorts: Sort[]; id: string };

/** One row with a text column `answer`: the rows before this one are counted, not sorted. */
export function positionSql(table: DeployedTable, plan: PositionPlan, reading: Reading): Statement {
  const sorts = [...plan.sorts, { field: systemFields[0], direction: 'asc' } as Sort];
  const wanted = sorts.map(({ field }) => field);
  const { values, at, from, where, fields } = startWithRows(table, plan, wanted, reading);
  const { bind } = values;
  const orders = sorts.map((sort, i) => ({
    key: `key_${i}`,
    sql: sortedSql({ ...sort, field: fields[i] ?? sort.field }),
    isAscending: sort.direction === 'asc',
  }));
  const keys = orders.map(({ key, sql }) => `${sql} as ${key}`).join(', ');
  // OFFSET keeps the planner from copying the expression of a label to every place that names it.
  const fence = at !== undefined && sorts.some(({ field }) => field.label) ? ' offset 0' : '';
  const rows = `select ${keys} from ${from}${where}`;
  const own = `${rows}${where === '' ? ' where' : ' and'} svc_sk = ${bind(plan.id, 'bigint')}`;
  const before = `select count(*) from (${rows}${fence}) r, own where ${beforeSql(orders)}`;
  return {
    text:
      `with own as materialized (${own})` +
      ` select concat('{"index":', case when exists (select from own) then (${before})::text else 'null' end, '}') as answer` +
      ` where ${readableSql(table, reading, at, bind)}`,
    values: values.list,
    customPlan: true,
  };
}

// As `orderSql` orders: no value before every value when ascending, after them when descending.
function beforeSql([first, ...rest]: { key: string; isAscending: boolean }[]): string {
  if (!first) return 'false';
  const { key, isAscending } = first;
  const [row, own] = [`r.${key}`, `own.${key}`];
  const precedes = isAscending
    ? `(${row} < ${own} or (${row} is null and ${own} is not null))`
    : `(${row} > ${own} or (${own} is null and ${row} is not null))`;
  if (rest.length === 0) return precedes;
  return `(${precedes} or (${row} is not distinct from ${own} and ${beforeSql(rest)}))`;
}
