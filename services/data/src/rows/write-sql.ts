// The statements that write single rows. Pure. Each states the revision it was made for and returns what it wrote.
import { currentSql } from '../catalogue/catalogue.ts';
import type { Column, DeployedTable } from '../catalogue/structure.ts';
import { columnName, tableName } from '../query/identifiers.ts';
import { recordSql } from '../query/record-sql.ts';
import { type Statement, Values } from '../query/statement.ts';
import { typeOf } from '../values/value-types.ts';
import type { Cells } from './record-input.ts';

const place = (values: Values, column: Column, cell: string | null) => values.bind(cell, typeOf(column).base);

// The clock is read inside the statement, when the transaction is known to be open: incremental exports rely on it (`read/mark.ts`).
const clock = '(select clock_timestamp() as at) clock';

/** Inserts a row; answers `record` and `svc_version`, or no row when the table has changed. */
export function insertSql(table: DeployedTable, cells: Cells, actor: string): Statement {
  const values = new Values();
  const columns = [...cells.keys()];
  const names = ['svc_created_at', 'svc_updated_at', 'svc_updated_by', ...columns.map(columnName)];
  const sources = [
    'at',
    'at',
    values.bind(actor, 'text'),
    ...columns.map((column) => place(values, column, cells.get(column) as string | null)),
  ];
  return {
    text:
      `insert into ${tableName(table)} (${names.join(', ')}) select ${sources.join(', ')} from ${clock}` +
      ` where ${currentSql(table, values.bind)} returning ${recordSql(table, values.bind)} as record, svc_version`,
    values: values.list,
  };
}

/** Changes named columns of a live row; no row comes back when there is none, its version is another, or the table has changed. */
export function updateSql(
  table: DeployedTable,
  id: string,
  cells: Cells,
  actor: string,
  versions: number[] | undefined,
): Statement {
  const values = new Values();
  const own = [...cells].map(([column, cell]) => `${columnName(column)} = ${place(values, column, cell)}`);
  const system = [
    'svc_updated_at = clock.at',
    'svc_version = svc_version + 1',
    `svc_updated_by = ${values.bind(actor, 'text')}`,
  ];
  const matching = versions === undefined ? '' : ` and svc_version = any(${values.bind(versions, 'int[]')})`;
  return {
    text:
      `update ${tableName(table)} set ${[...system, ...own].join(', ')} from ${clock}` +
      ` where svc_sk = ${values.bind(id, 'bigint')} and not svc_is_deleted${matching} and ${currentSql(table, values.bind)}` +
      ` returning ${recordSql(table, values.bind)} as record, svc_version`,
    values: values.list,
  };
}

/** Reads one row, deleted or not: `record`, `svc_version`, `svc_is_deleted`. */
export function showSql(table: DeployedTable, id: string): Statement {
  const values = new Values();
  return {
    text:
      `select ${recordSql(table, values.bind)} as record, svc_version, svc_is_deleted from ${tableName(table)}` +
      ` where svc_sk = ${values.bind(id, 'bigint')} and ${currentSql(table, values.bind)}`,
    values: values.list,
  };
}

/**
 * Soft-deletes rows, all or nothing: one row comes back with `deleted_count` and the `unknown` ids (nothing is deleted when there
 * are any), or none when the table has changed.
 */
export function deleteSql(table: DeployedTable, ids: string[], actor: string): Statement {
  const values = new Values();
  const list = values.bind(ids, 'bigint[]');
  const name = tableName(table);
  return {
    text:
      `with found as materialized (select svc_sk, svc_is_deleted from ${name} where svc_sk = any(${list}) order by svc_sk for update),` +
      ` missing as (select id from unnest(${list}) id where id not in (select svc_sk from found)),` +
      ` done as (update ${name} t set svc_is_deleted = true, svc_updated_at = clock.at, svc_version = svc_version + 1,` +
      ` svc_updated_by = ${values.bind(actor, 'text')} from ${clock}, found f` +
      ` where t.svc_sk = f.svc_sk and not t.svc_is_deleted and not exists (select from missing) and ${currentSql(table, values.bind)} returning 1)` +
      ` select (select count(*) from done) as deleted_count, array(select distinct id from missing order by id) as unknown` +
      ` where ${currentSql(table, values.bind)}`,
    values: values.list,
  };
}
