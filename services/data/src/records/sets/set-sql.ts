// The statements that change or delete all rows of a filter: the rows are locked, counted and
// written in one statement. Pure.
import { limits } from '@almanac/service-kit/limits';
import type { Filter } from '../../pages/filter.ts';
import { filterSql } from '../../pages/filter-sql.ts';
import { channelSql, type Origin } from '../../rows/origin.ts';
import { columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import { typeOf } from '../../values/value-types.ts';
import type { Cells } from '../record-input.ts';
import { differsSql, monotonicSql, nowSql } from '../write-sql.ts';

/**
 * What a write does to the rows of a filter. `cells`: the values that all of them get; undefined
 * when they are deleted.
 */
export type Selection = { filter: Filter; cells: Cells | undefined };

/** The row of the statement: how many rows matched, and how many of them it wrote. */
export type SetDone = { matched: number; changed: number };

/** One more than a request may write, so that a count beyond it is seen. */
export const countedRows = limits.rowsPerSetWrite + 1;

/** The live rows `t` of a filter. */
export const matchingSql = (table: DeployedTable, filter: Filter, bind: Bind) =>
  `${tableName(table)} t where t.svc_live and ${filterSql(filter, bind)}`;

/**
 * Takes the writer's lock of a table before rows are read, and writes nothing: a reader's lock that
 * is raised later would deadlock with a deployment that waits for readers.
 */
export const intentSql = (table: DeployedTable): string =>
  `intent as (insert into ${tableName(table)} (svc_created_at) select null where false)`;

/** The system columns of a new version of a row `t`. */
export const newVersionSql = ({ actor, requestId, channel }: Origin, bind: Bind): string =>
  [
    `svc_updated_at = ${monotonicSql('t.')}`,
    'svc_version = t.svc_version + 1',
    `svc_updated_by = ${bind(actor, 'text')}`,
    `svc_request_id = ${bind(requestId, 'text')}`,
    `svc_channel = ${channelSql(channel)}`,
  ].join(', ');

const givenCell = (cells: Cells, bind: Bind) => (column: Column) => bind(cells.get(column), typeOf(column).base);

/**
 * Writes the rows when as many match as `expected` says (any number without it), and no more than a
 * request may write. Returns one row `SetDone`, none when the table has changed. A row that has the
 * values already keeps its version.
 */
export function writeWhereSql(
  table: DeployedTable,
  { filter, cells }: Selection,
  expected: number | undefined,
  origin: Origin,
): Statement {
  const values = new Values();
  const { bind } = values;
  const columns = [...(cells?.keys() ?? [])];
  const given = cells ? givenCell(cells, bind) : undefined;
  const differs = given ? differsSql(columns, 't', given) : 'true';
  const sets = given
    ? columns.map((column) => `${columnName(column)} = ${given(column)}`).join(', ')
    : 'svc_is_deleted = true';
  // A key that others refer to changes, or ends.
  const lock = !cells || columns.some((column) => column.is_primary_key) ? 'update' : 'no key update';
  const wanted = expected === undefined ? '' : ` and n = ${bind(expected, 'int')}`;
  // The rows are locked in one order, so that two writes never deadlock. The clock is read after.
  const text =
    `with ${intentSql(table)},` +
    ` found as materialized (select t.svc_sk, ${differs} as differs from ${matchingSql(table, filter, bind)} order by t.svc_sk limit ${countedRows} for ${lock} of t),` +
    ` clock as materialized (select ${nowSql} as at from (select count(*) as n from found) locked where n < ${countedRows}${wanted} and ${currentSql(table, bind)}),` +
    ` changed as (update ${tableName(table)} t set ${sets}, ${newVersionSql(origin, bind)} from clock, found f` +
    ` where t.svc_sk = f.svc_sk and f.differs returning 1)` +
    ` select (select count(*) from found) as matched, (select count(*) from changed) as changed where ${currentSql(table, bind)}`;
  return { text, values: values.list, customPlan: true };
}

/**
 * How many rows match, up to one more than a request may write: one row `matched`, none when the
 * table has changed.
 */
export function countWhereSql(table: DeployedTable, filter: Filter): Statement {
  const { bind, list } = new Values();
  const rows = `select from ${matchingSql(table, filter, bind)} limit ${countedRows}`;
  return {
    text: `select (select count(*) from (${rows}) found) as matched where ${currentSql(table, bind)}`,
    values: list,
    customPlan: true,
  };
}

/** The outcome of the write, as `outcome-sql.ts` takes it. */
export const whereOutcomeSql =
  (table: DeployedTable, { filter, cells }: Selection) =>
  ({ bind }: Values, columns: readonly Column[]): string => {
    const pairs = columns.flatMap((column) => {
      const own = `t.${columnName(column)}`;
      const after = cells?.has(column) ? givenCell(cells, bind)(column) : own;
      return [`${own} as old_${columnName(column)}`, `${after} as new_${columnName(column)}`];
    });
    return `select ${['t.svc_sk as id', 'true as was_live', `${cells !== undefined} as is_live`, ...pairs].join(', ')} from ${matchingSql(table, filter, bind)}`;
  };

/** The columns whose values decide about keys and references. */
export const decidingColumns = ({ structure }: DeployedTable): Column[] => {
  const referring = new Set(structure.foreign_keys.flatMap(({ columns }) => columns));
  const key = new Set(keyColumns(structure));
  return structure.columns.filter((column) => key.has(column) || referring.has(column.lineage_id));
};
