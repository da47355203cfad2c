// The statements that write single rows. Pure. Each states the revision it was made for and returns what it wrote.
import { currentSql } from '../catalogue/catalogue.ts';
import type { Column, DeployedTable } from '../catalogue/structure.ts';
import { columnName, tableName } from '../query/identifiers.ts';
import { recordSql } from '../query/record-sql.ts';
import { type Statement, Template, templateOf, Values } from '../query/statement.ts';
import { typeOf } from '../values/value-types.ts';
import type { Cells } from './record-input.ts';

const slotOf = (values: Values, column: Column) => values.slot(typeOf(column).base);

// The clock is read inside the statement, when the transaction is known to be open: incremental exports rely on it (`read/mark.ts`).
const clock = '(select clock_timestamp() as at) clock';

/** Inserts a row; answers `record` and `svc_version`, or no row when the table has changed. */
export function insertSql(table: DeployedTable, cells: Cells, actor: string): Statement {
  const { columns } = table.structure;
  const template = templateOf(table, 'insert', () => {
    const values = new Values();
    const names = ['svc_created_at', 'svc_updated_at', 'svc_updated_by', ...columns.map(columnName)];
    const sources = ['at', 'at', values.slot('text'), ...columns.map((column) => slotOf(values, column))];
    const text =
      `insert into ${tableName(table)} (${names.join(', ')}) select ${sources.join(', ')} from ${clock}` +
      ` where ${currentSql(table, values.bind)} returning ${recordSql(table, values.bind)} as record, svc_version`;
    return new Template(text, values, 1 + columns.length);
  });
  return template.fill([actor, ...columns.map((column) => cells.get(column) ?? null)]);
}

/** Changes named columns of a live row; no row comes back when there is none, its version is another, or the table has changed. */
export function updateSql(
  table: DeployedTable,
  id: string,
  cells: Cells,
  actor: string,
  versions: number[] | undefined,
): Statement {
  const columns = [...cells.keys()];
  const shape = `update ${columns.map((column) => column.lineage_id).join()} ${versions === undefined ? '' : 'if-match'}`;
  const template = templateOf(table, shape, () => {
    const values = new Values();
    const sets = [
      `svc_updated_by = ${values.slot('text')}`,
      ...columns.map((column) => `${columnName(column)} = ${slotOf(values, column)}`),
      'svc_updated_at = clock.at',
      'svc_version = svc_version + 1',
    ];
    const row = `svc_sk = ${values.slot('bigint')} and not svc_is_deleted`;
    const matching = versions === undefined ? '' : ` and svc_version = any(${values.slot('int[]')})`;
    const slots = values.list.length;
    const text =
      `update ${tableName(table)} set ${sets.join(', ')} from ${clock} where ${row}${matching} and ${currentSql(table, values.bind)}` +
      ` returning ${recordSql(table, values.bind)} as record, svc_version`;
    return new Template(text, values, slots);
  });
  return template.fill([actor, ...cells.values(), id, ...(versions === undefined ? [] : [versions])]);
}

/** Reads one row, deleted or not: `record`, `svc_version`, `svc_is_deleted`. */
export function showSql(table: DeployedTable, id: string): Statement {
  const template = templateOf(table, 'show', () => {
    const values = new Values();
    const row = `svc_sk = ${values.slot('bigint')}`;
    const text =
      `select ${recordSql(table, values.bind)} as record, svc_version, svc_is_deleted from ${tableName(table)}` +
      ` where ${row} and ${currentSql(table, values.bind)}`;
    return new Template(text, values, 1);
  });
  return template.fill([id]);
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
