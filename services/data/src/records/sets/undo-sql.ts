// The statements that take back what one request wrote. Its rows are found by the request of their
// versions; what they were before is in the history. Pure.
import { channels, type Origin } from '../../rows/origin.ts';
import { columnName, historyName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import type { Column, DeployedTable } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import { differsSql, nowSql } from '../write-sql.ts';
import type { OutcomeSql } from './outcome-sql.ts';
import { countedRows, intentSql, newVersionSql } from './set-sql.ts';

/**
 * The row of the statement. `matched`: the rows that the request wrote, in so many `versions`, up
 * to one more than can be undone; `refused`: those of them that stand in the way of the undo.
 */
export type UndoDone = {
  matched: number;
  versions: number;
  refused: number;
  deleted: number;
  restored: number;
  changed: number;
};

/**
 * A row in the way. `version`: the one that it has; `isChanged`: it has been changed since, else
 * the version from before the request is not kept.
 */
export type InTheWay = { id: number | string; version: number; is_changed: boolean };

// Writes of imports and promotions have a time in place of a request (`bulk_write`). A deployment
// changes rows for the structure, which stays.
function isOfRequestSql(table: DeployedTable, requestId: string, bind: Bind): string {
  const request = bind(requestId, 'text');
  const times = `select b.at from bulk_write b where b.table_definition_id = ${bind(table.table_definition_id, 'int')} and b.request_id = ${request}`;
  return (
    `(r.svc_request_id = ${request} and r.svc_channel <> '${channels.deployment}')` +
    ` or (r.svc_request_id is null and r.svc_channel in ('${channels.import}', '${channels.promotion}') and r.svc_updated_at = any(array(${times})))`
  );
}

const writtenSql = 'select coalesce(sum(versions), 0)::int from named';

const nameOf = (prefix: 'old' | 'new', column: Column) => `${prefix}_${columnName(column)}`;

/**
 * The parts of a `with`: `named`, the rows that the request wrote, with its `first` and `last`
 * version of each and their number; `found`, those rows, locked if `locks`; `op`, with the values
 * from before the request as `new_…`. One row can have several versions of a request whose id a
 * caller has used again.
 */
function partsSql(table: DeployedTable, requestId: string, columns: readonly Column[], locks: boolean, bind: Bind) {
  const isOfRequest = isOfRequestSql(table, requestId, bind);
  const versions = [tableName(table), historyName(table)].map(
    (name) => `select r.svc_sk, r.svc_version from ${name} r where ${isOfRequest}`,
  );
  const cells = columns.flatMap((column) => [
    `f.${columnName(column)} as ${nameOf('old', column)}`,
    // A row that the request created keeps its values when it is deleted.
    `case when b.svc_sk is null then f.${columnName(column)} else b.${columnName(column)} end as ${nameOf('new', column)}`,
  ]);
  const own = ['svc_sk', 'svc_version', 'svc_is_deleted', ...columns.map(columnName)].map((name) => `t.${name}`);
  return (
    `named as materialized (select svc_sk, min(svc_version) as first, max(svc_version) as last, count(*) as versions` +
    ` from (select * from (${versions.join(' union all ')}) written limit ${countedRows}) written group by svc_sk),` +
    // Locked in one order, so that two writes never deadlock.
    ` found as materialized (select ${own.join(', ')}, n.first, n.last, n.versions from ${tableName(table)} t join named n on n.svc_sk = t.svc_sk` +
    ` order by t.svc_sk${locks ? ' for update of t' : ''}),` +
    ` op as materialized (select f.svc_sk as id, f.svc_version as version, not f.svc_is_deleted as was_live,` +
    ` coalesce(not b.svc_is_deleted, false) as is_live,` +
    ` f.svc_version <> f.last or f.versions <> f.last - f.first + 1 as is_changed, f.first > 1 and b.svc_sk is null as is_lost${cells.map((cell) => `, ${cell}`).join('')}` +
    ` from found f left join ${historyName(table)} b on b.svc_sk = f.svc_sk and b.svc_version = f.first - 1)`
  );
}

/**
 * Gives every row that the request wrote the state from before it, in a new version: rows that it
 * created are deleted, rows that it deleted are live again, and the others get their values back.
 * Nothing is written while a row is in the way. Returns one row `UndoDone`, none when the table has
 * changed.
 */
export function undoSql(table: DeployedTable, requestId: string, origin: Origin): Statement {
  const values = new Values();
  const { bind } = values;
  const { columns } = table.structure;
  const cells = columns.map((column) => `${columnName(column)} = o.${nameOf('new', column)}`);
  const sets = ['svc_is_deleted = not o.is_live', ...cells, newVersionSql(origin, bind)].join(', ');
  const writes = (clock: string, which: string) =>
    `(update ${tableName(table)} t set ${sets} from ${clock} clock, op o where t.svc_sk = o.id and ${which} returning 1)`;
  const differs = differsSql(columns, 't', (column) => `o.${nameOf('new', column)}`);
  // Keys are free again before others take them: deletions first, then changes, then restorations.
  // Each reads a clock that has read all of the part before.
  const text =
    `with ${intentSql(table)}, ${partsSql(table, requestId, columns, true, bind)},` +
    ` refused as materialized (select 1 from op where is_changed or is_lost),` +
    ` first as materialized (select ${nowSql} as at from (select count(*) from found) locked where ${currentSql(table, bind)}` +
    ` and (${writtenSql}) < ${countedRows} and not exists (select from refused)),` +
    ` deleted as ${writes('first', 'o.was_live and not o.is_live')},` +
    ` second as materialized (select at from first, (select count(*) from deleted) done),` +
    ` changed as ${writes('second', `o.was_live and o.is_live and ${differs}`)},` +
    ` third as materialized (select at from second, (select count(*) from changed) done),` +
    ` restored as ${writes('third', 'not o.was_live and o.is_live')}` +
    ` select (select count(*) from named) as matched, (${writtenSql}) as versions, (select count(*) from refused) as refused, (select count(*) from deleted) as deleted,` +
    ` (select count(*) from restored) as restored, (select count(*) from changed) as changed where ${currentSql(table, bind)}`;
  return { text, values: values.list, customPlan: true };
}

/** The first rows that are in the way of an undo, and their number: rows `InTheWay`, `total`. */
export function inTheWaySql(table: DeployedTable, requestId: string, limit: number): Statement {
  const values = new Values();
  return {
    text:
      `with ${partsSql(table, requestId, [], false, values.bind)}` +
      ` select id, version, is_changed, count(*) over () as total from op where is_changed or is_lost order by id limit ${values.bind(limit, 'int')}`,
    values: values.list,
    customPlan: true,
  };
}

/** How many rows the request wrote: one row `matched`, none when the table has changed. */
export function countOfRequestSql(table: DeployedTable, requestId: string): Statement {
  const values = new Values();
  return {
    text:
      `with ${partsSql(table, requestId, [], false, values.bind)}` +
      ` select (select count(*) from named) as matched where ${currentSql(table, values.bind)}`,
    values: values.list,
    customPlan: true,
  };
}

/** The outcome of the undo, as `outcome-sql.ts` takes it. */
export const undoOutcomeSql =
  (table: DeployedTable, requestId: string): OutcomeSql =>
  ({ bind }, columns) =>
    `with ${partsSql(table, requestId, columns, false, bind)} select * from op`;
