// Groups of the selected rows by the values of columns, as one statement that returns the body of
// the answer. Pure.

import type { RowSelection, Sort } from '../pages/filter.ts';
import { directionSql, sortedSql } from '../pages/filter-sql.ts';
import { joinedSql } from '../rows/answer-size.ts';
import type { Field } from '../rows/fields.ts';
import { type Reading, readableSql } from '../rows/reading.ts';
import { concatSql, type Statement } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { floats, valueTypes } from '../values/value-types.ts';
import { countedSql, jsonTextSql, labelTextSql, startWithRows } from './selected-rows-sql.ts';

export const aggregateFunctions = ['count', 'sum', 'min', 'max', 'avg'] as const;
export type AggregateFunction = (typeof aggregateFunctions)[number];
export type Aggregate = { field: Field; function: AggregateFunction };

/**
 * `order`: by some of the columns; the others follow. `label`: of the record that a value refers
 * to.
 */
export type GroupsPlan = RowSelection & {
  columns: { field: Field; label?: Field }[];
  order: Sort[];
  aggregates: Aggregate[];
  offset: number;
  limit: number;
};

/** One row with a text column `answer`. */
export function groupsSql(table: DeployedTable, plan: GroupsPlan, reading: Reading): Statement {
  const { columns, aggregates } = plan;
  const wanted = [...columns, ...aggregates].map(({ field }) => field);
  const { values, at, from, where, fields } = startWithRows(table, plan, wanted, reading);
  const { bind } = values;
  const { exact_numbers: exactNumbers } = table.structure;
  const keys = columns.map(({ field }, i) => ({ field, key: `key_${i}` }));
  const keyList = keys.map(({ key }) => key).join(', ');
  const cells = [
    ...fields.slice(0, keys.length).map((field, i) => `${countedSql(field)} as key_${i}`),
    ...fields.slice(keys.length).map(({ sql }, i) => `${sql} as value_${i}`),
  ];
  const sums = aggregates.map((aggregate, i) => `, ${aggregateSql(aggregate, `value_${i}`)} as aggregate_${i}`);
  const groups = `select ${keyList}, count(*) as n${sums.join('')} from (select ${cells.join(', ')} from ${from}${where}) r group by ${keyList}`;
  const labels = columns.flatMap(({ field, label }, i) =>
    label ? [{ name: field.name, json: labelTextSql(label, `key_${i}`, at, exactNumbers) }] : [],
  );
  const item = concatSql([
    `'{"values":'`,
    objectSql(
      keys.map(({ field, key }) => ({ name: field.name, json: jsonTextSql(field, key, exactNumbers) })),
      bind,
    ),
    ...(labels.length > 0 ? [`',"labels":'`, objectSql(labels, bind)] : []),
    `',"count":'`,
    'n',
    `',"aggregates":['`,
    ...aggregates.flatMap((each, i) => [
      ...(i === 0 ? [] : ["','"]),
      jsonTextSql(resultOf(each), `aggregate_${i}`, exactNumbers),
    ]),
    `']}'`,
  ]);
  const window = `limit ${bind(plan.limit, 'int')} offset ${bind(plan.offset, 'bigint')}`;
  const page = `(select * from counted order by ${groupOrderSql(plan)} ${window}) g`;
  return {
    text:
      `with counted as materialized (${groups})` +
      ` select concat('{"groups":[', ${joinedSql(item, page, true)}, '],"groupCount":', c, '}') as answer` +
      ` from (select count(*) from counted) as every(c) where ${readableSql(table, reading, at, bind)}`,
    values: values.list,
    customPlan: true,
  };
}

/** The order of the groups: no value first, as pages order rows. */
export function groupOrderSql({ columns, order }: Pick<GroupsPlan, 'columns' | 'order'>): string {
  const named = new Set(order.map(({ field }) => field.name));
  const others = columns.flatMap(({ field }) => (named.has(field.name) ? [] : [{ field, direction: 'asc' } as Sort]));
  return [...order, ...others]
    .map(({ field, direction, absolute }) => {
      const sql = `key_${columns.findIndex((each) => each.field.name === field.name)}`;
      return `${sortedSql({ field: { ...field, sql }, absolute })} ${directionSql(direction === 'asc', true)}`;
    })
    .join(', ');
}

function objectSql(members: { name: string; json: string }[], bind: Bind): string {
  const parts = members.flatMap(({ name, json }, i) => [
    bind(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`, 'text'),
    json,
  ]);
  return concatSql([...parts, "'}'"]);
}

// Floating point numbers are added as the decimals that records show, so that the order of the rows
// makes no difference and no sum is infinite.
function aggregateSql({ field: { type }, function: name }: Aggregate, x: string): string {
  const isFloat = floats.has(type.family);
  const summed = isFloat && (name === 'sum' || name === 'avg') ? `${x}::text::numeric` : x;
  return `${name}(${summed})`;
}

// What a function returns, for its JSON form.
function resultOf({ field, function: name }: Aggregate): Field {
  if (name === 'min' || name === 'max') return field;
  return { ...field, type: name === 'count' ? valueTypes.integer : valueTypes.decimal };
}
