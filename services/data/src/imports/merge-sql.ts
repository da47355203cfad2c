// Merges a staged, checked file: inserts new rows, updates rows that differ, deletes what the file
// says or lacks. Each is one statement over sets; equal rows are left untouched. All rows get one
// time, by which their request is found (`bulk_write`). Pure.

import { channelSql, type Origin } from '../rows/origin.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import { isKeptSql, keptColumns } from './checks/rejected-keys-sql.ts';
import type { LoadPlan } from './plan/load-plan.ts';
import { isDeletionSql, keyEquals, typedSql } from './staging/staged-cells.ts';

export type Stamp = { at: string } & Omit<Origin, 'requestId'>;

const systemSets = (values: Values, { at, actor, channel }: Stamp) => [
  `svc_updated_at = ${values.bind(at, 'timestamptz')}`,
  'svc_version = t.svc_version + 1',
  `svc_updated_by = ${values.bind(actor, 'text')}`,
  `svc_channel = ${channelSql(channel)}`,
  'svc_request_id = null',
];

/**
 * Updates live rows whose values differ from the file's. `last`: the last row before the load;
 * later ones were inserted by it.
 */
export function updateSql(
  table: DeployedTable,
  name: string,
  plan: LoadPlan,
  stamp: Stamp,
  last: string,
): Statement | undefined {
  const keys = new Set(plan.key);
  const changed = plan.sources.filter((source) => !keys.has(source));
  if (plan.key.length === 0 || changed.length === 0) return undefined;
  const values = new Values();
  const own = changed.map((source) => `${columnName(source.column)} = ${typedSql(plan, source, 's')}`);
  const live = changed.map((source) => `t.${columnName(source.column)}`).join(', ');
  const staged = changed.map((source) => typedSql(plan, source, 's')).join(', ');
  return {
    text:
      `update ${tableName(table)} t set ${[...systemSets(values, stamp), ...own].join(', ')} from ${name} s` +
      ` where ${keyEquals(plan, 't', 's')} and t.svc_live and not ${isDeletionSql(plan, 's')}` +
      ` and t.svc_sk <= ${values.bind(last, 'bigint')} and (${live}) is distinct from (${staged})`,
    values: values.list,
  };
}

/**
 * Inserts the file's rows that have no live row, in the order of their key, which keeps indexes and
 * later scans local.
 */
export function insertSql(
  table: DeployedTable,
  name: string,
  plan: LoadPlan,
  stamp: Stamp,
  isEmpty: boolean,
): Statement {
  const values = new Values();
  const at = values.bind(stamp.at, 'timestamptz');
  const columns = [
    'svc_created_at',
    'svc_updated_at',
    'svc_updated_by',
    'svc_channel',
    ...plan.sources.map((source) => columnName(source.column)),
  ];
  const cells = [
    at,
    at,
    values.bind(stamp.actor, 'text'),
    channelSql(stamp.channel),
    ...plan.sources.map((source) => typedSql(plan, source, 's')),
  ];
  const conditions = [
    plan.codePosition === undefined ? [] : [`not ${isDeletionSql(plan, 's')}`],
    isEmpty || plan.key.length === 0
      ? []
      : [`not exists (select from ${tableName(table)} t where ${keyEquals(plan, 't', 's')} and t.svc_live)`],
  ].flat();
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  const order = plan.key.length === 0 ? 's.svc_row' : plan.key.map((source) => typedSql(plan, source, 's')).join(', ');
  return {
    text: `insert into ${tableName(table)} (${columns.join(', ')}) select ${cells.join(', ')} from ${name} s${where} order by ${order}`,
    values: values.list,
  };
}

/**
 * How many rows are live, and how many of them the file lacks: one row `live`, `missing`. No key
 * may be twice in the file. `rejectedKeys`: the table with the keys of rejected rows, if there are
 * any. Joins: for a subquery beside a count, PostgreSQL would read the whole file for each row.
 */
export function countMissingSql(table: DeployedTable, name: string, plan: LoadPlan, rejectedKeys?: string): Statement {
  const [join, isRejected] =
    rejectedKeys === undefined
      ? ['', '']
      : [
          ` left join (select distinct true as found, ${keptColumns(plan)} from ${rejectedKeys}) r on ${isKeptSql(plan, 't', 'r')}`,
          ' and r.found is null',
        ];
  return {
    text:
      `select count(*) as live, count(*) filter (where s.svc_row is null${isRejected}) as missing from ${tableName(table)} t` +
      ` left join ${name} s on ${keyEquals(plan, 't', 's')}${join} where t.svc_live`,
    values: [],
  };
}

const deletionSets = (values: Values, stamp: Stamp) =>
  ['svc_is_deleted = true', ...systemSets(values, stamp)].join(', ');

/**
 * Soft-deletes live rows that are neither among the file's good rows nor among its rejected ones.
 */
export function deleteMissingSql(
  table: DeployedTable,
  name: string,
  plan: LoadPlan,
  stamp: Stamp,
  rejectedKeys?: string,
): Statement {
  const values = new Values();
  const isRejected =
    rejectedKeys === undefined
      ? ''
      : ` and not exists (select from ${rejectedKeys} r where ${isKeptSql(plan, 't', 'r')})`;
  return {
    text:
      `update ${tableName(table)} t set ${deletionSets(values, stamp)} where t.svc_live` +
      ` and not exists (select from ${name} s where ${keyEquals(plan, 't', 's')})${isRejected}`,
    values: values.list,
  };
}

/**
 * Soft-deletes the rows that the file says to delete. A row whose key the file also writes stays,
 * with the written values: deleting it first would come to the same.
 */
export function deleteNamedSql(table: DeployedTable, name: string, plan: LoadPlan, stamp: Stamp): Statement {
  const values = new Values();
  const isWritten = `select from ${name} w where not ${isDeletionSql(plan, 'w')} and ${keyEquals(plan, 't', 'w')}`;
  return {
    text:
      `update ${tableName(table)} t set ${deletionSets(values, stamp)} from ${name} s` +
      ` where ${isDeletionSql(plan, 's')} and ${keyEquals(plan, 't', 's')} and t.svc_live and not exists (${isWritten})`,
    values: values.list,
  };
}
