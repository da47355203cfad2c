// The activity of a table: the versions of all its rows, newest first, and how many came about in
// each span of time. Pure.

import { metaSql, type PageNumbers } from '../pages/page-sql.ts';
import { actionMemberSql, actionSql, originMembersSql } from '../records/history/history-sql.ts';
import { joinedSql, maxRecordBytes, mayOverflow } from '../rows/answer-size.ts';
import { systemColumns } from '../rows/fields.ts';
import { type Channel, channels } from '../rows/origin.ts';
import { columnName, historyName, tableName } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf, valueTypes } from '../values/value-types.ts';

export const actions = ['created', 'updated', 'deleted', 'restored', 'reverted'] as const;
export const spans = ['hour', 'day', 'week', 'month'] as const;

/** `from` counts, `to` doesn't; both in ISO 8601. */
export type Period = { from?: string | undefined; to?: string | undefined };

export type ActivityPlan = Period & {
  userId?: number | undefined;
  applicationId?: number | undefined;
  channel?: Channel | undefined;
  action?: (typeof actions)[number] | undefined;
  /** Versions in which this column has another value than in the one before. */
  column?: Column | undefined;
};

// A version ends after it has begun, so the index of ends serves `from` in the history, too.
function versionsSql(table: DeployedTable, { from, to }: Period, bind: Bind): string {
  const columns = [...systemColumns, ...table.structure.columns.map(columnName)].join(', ');
  const begun = [
    ...(from === undefined ? [] : [`svc_updated_at >= ${bind(from, 'timestamptz')}`]),
    ...(to === undefined ? [] : [`svc_updated_at < ${bind(to, 'timestamptz')}`]),
  ];
  const ended = from === undefined ? [] : [`svc_valid_to >= ${bind(from, 'timestamptz')}`];
  const half = (name: string, conditions: string[]) =>
    `select ${columns} from ${name}${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`}`;
  return `(${half(tableName(table), begun)} union all ${half(historyName(table), [...begun, ...ended])}) v`;
}

const sinceSql = (table: DeployedTable, bind: Bind) =>
  `(select ${valueTypes.timestamptz.jsonSql('k.history_since')} from deployed_table k where k.table_definition_id = ${bind(table.table_definition_id, 'int')})`;

// The version before is in the history as long as it is kept.
const beforeSql = (table: DeployedTable, name: string) =>
  `${historyName(table)} ${name} where ${name}.svc_sk = v.svc_sk and ${name}.svc_version = v.svc_version - 1`;

function conditionSql(table: DeployedTable, plan: ActivityPlan, bind: Bind): string {
  const { userId, applicationId, channel, action, column } = plan;
  const conditions: string[] = [];
  if (userId !== undefined) conditions.push(`svc_updated_by = ${bind(`user:${userId}`, 'text')}`);
  if (applicationId !== undefined) conditions.push(`svc_updated_by = ${bind(`application:${applicationId}`, 'text')}`);
  if (channel !== undefined) conditions.push(`svc_channel = '${channels[channel]}'`);
  if (action !== undefined) conditions.push(`${actionSql(table)} = ${bind(JSON.stringify(action), 'text')}`);
  if (column) {
    const x = columnName(column);
    conditions.push(
      `(svc_version = 1 and ${x} is not null or exists (select from ${beforeSql(table, 'b')} and b.${x} is distinct from v.${x}))`,
    );
  }
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

/** A page of versions: one row `answer`; none when the table has changed. */
export function activitySql(table: DeployedTable, plan: ActivityPlan, page: PageNumbers): Statement {
  const values = new Values();
  const { bind } = values;
  const from = `${versionsSql(table, plan, bind)}${conditionSql(table, plan, bind)}`;
  const window = `limit ${bind(page.perPage, 'int')} offset ${bind((page.page - 1) * page.perPage, 'bigint')}`;
  const shown = `(select v.* from ${from} order by svc_updated_at desc, svc_sk desc, svc_version desc ${window}) v`;
  const items = joinedSql(changeSql(table, bind), shown, mayOverflow(page.perPage, 4 * maxRecordBytes(table)));
  return {
    text:
      `select '{"as_of_from":' || ${sinceSql(table, bind)} || ',"data":[' || ${items} || ${metaSql(page, bind)} as answer` +
      ` from (select count(*) from ${from}) as counted(c) where ${currentSql(table, bind)}`,
    values: values.list,
    customPlan: true,
  };
}

/** The JSON of a value in `concat`; null becomes null. */
const cellSql = (table: DeployedTable, column: Column, x: string) => [
  `case when ${x} is null then 'null' end`,
  typeOf(column).jsonSql(x, table.structure.exact_numbers),
];

// Of the first version the columns with a value. Unknown when the history begins later than the
// row.
function changeSql(table: DeployedTable, bind: Bind): string {
  const label = ({ name }: Column) => bind(JSON.stringify(name), 'text');
  const key = keyColumns(table.structure).flatMap((column, i) => [
    i === 0 ? `''` : `','`,
    label(column),
    `':'`,
    ...cellSql(table, column, `v.${columnName(column)}`),
  ]);
  const cells = table.structure.columns.map((column) => {
    const [before, after] = [`p.${columnName(column)}`, `v.${columnName(column)}`];
    const json = concatSql([
      label(column),
      `':{"from":'`,
      ...cellSql(table, column, before),
      `',"to":'`,
      ...cellSql(table, column, after),
      `'}'`,
    ]);
    return `case when ${before} is distinct from ${after} then ${json} end`;
  });
  const change = concatSql([
    `'{"svc_sk":' || v.svc_sk || ',"svc_version":' || v.svc_version`,
    `',"at":' || ${valueTypes.timestamptz.jsonSql('v.svc_updated_at')}`,
    `(select ${concatSql([actionMemberSql(table), ...originMembersSql(table, bind)])} from (select v.*) v)`,
    `',"key":{'`,
    ...(key.length === 0 ? [`''`] : key),
    `'},"cells":'`,
    `case when v.svc_version = 1 or p.svc_version is not null then '{' || array_to_string(array[${cells.join(', ')}]::text[], ',') || '}' else 'null' end`,
    `'}'`,
  ]);
  return `(select ${change} from (values (true)) one left join lateral (select * from ${beforeSql(table, 'b')}) p on true)`;
}

/** The spans in which versions came about, at most `max`: one row `answer`, `spans`. */
export function timelineSql(
  table: DeployedTable,
  period: Period,
  span: (typeof spans)[number],
  max: number,
): Statement {
  const values = new Values();
  const { bind } = values;
  const counted = (name: string, ...of: string[]) =>
    `count(*) filter (where action in (${of.map((action) => `'"${action}"'`).join(', ')})) as ${name}`;
  const groups =
    `select date_trunc('${span}', at, 'UTC') as at, ${counted('created', 'created', 'restored')}, ${counted('updated', 'updated', 'reverted')}, ${counted('deleted', 'deleted')}` +
    ` from (select svc_updated_at as at, ${actionSql(table)} as action from ${versionsSql(table, period, bind)}) v` +
    ` group by 1 order by 1 limit ${bind(max + 1, 'int')}`;
  const bucket = concatSql([
    `'{"at":'`,
    valueTypes.timestamptz.jsonSql('g.at'),
    `',"created":' || g.created || ',"updated":' || g.updated || ',"deleted":' || g.deleted || '}'`,
  ]);
  return {
    text:
      `select '{"as_of_from":' || ${sinceSql(table, bind)} || ',"buckets":[' || t.buckets || ']}' as answer, t.spans` +
      ` from (select coalesce(string_agg(${bucket}, ',' order by g.at), '') as buckets, count(*) as spans from (${groups}) g) t` +
      ` where ${currentSql(table, bind)}`,
    values: values.list,
    customPlan: true,
  };
}
