// The operations of change requests on rows: their cells as they are stored, and a table as it
// would be with them, as a relation that stands wherever a table's name can. Pure.
//
// Cells are JSON texts by the lineage of a column. A deployment may have changed the type of a
// column since, so a text is cast only where it is a value.
import { cellKey, columnName, tableName } from '../sql/identifiers.ts';
import type { ChangeRequestReading } from '../tables/open-table.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { typeOf } from '../values/value-types.ts';
import { systemColumns } from './fields.ts';

// A cast to a physical text type would shorten the text.
const castType = (column: Column) => {
  const type = typeOf(column);
  return type.family === 'text' ? type.base : type.physical(column);
};

/** Whether the cells (`cells`, an expression) name the column. */
export const hasCellSql = (cells: string, column: Column): string => `${cells} ? ${cellKey(column)}`;

/** The value of a column in the cells; null when they don't name it, or it is none of its type. */
export function cellSql(cells: string, column: Column): string {
  const text = `(${cells} ->> ${cellKey(column)})`;
  const type = castType(column);
  if (typeOf(column).family === 'text') return text;
  return `case when pg_input_is_valid(${text}, '${type}') then ${text}::${type} end`;
}

/** The cells of a row, as they are stored, of those columns that `wanted` names. */
export function storedCellsSql(
  columns: readonly Column[],
  value: (column: Column) => string,
  wanted: (key: string) => string,
): string {
  if (columns.length === 0) return `'{}'::jsonb`;
  const cells = columns.map((column) => `(${cellKey(column)}, ${typeOf(column).textSql(value(column))})`);
  return `coalesce((select jsonb_object_agg(c.key, c.value) from (values ${cells.join(', ')}) c(key, value) where ${wanted('c.key')}), '{}')`;
}

/** The value of a column in the row `row`. */
export const ownCellSql = (row: string, column: Column): string => `${row}.${columnName(column)}`;

/** True in SQL for operations that would be applied: those neither rejected nor returned. */
export const standingSql = (operation: string): string => `${operation}.decision not in ('rejected', 'returned')`;

/** The member of a record that marks a changed row; no text for the others. */
export const changeMemberSql = `case when svc_operation_id is not null then concat(',"svc_change":{"operation_id":', svc_operation_id, ',"kind":"', svc_operation_kind, '"}') end`;

/**
 * The rows of a table through a change request, deleted ones too, with `svc_operation_id` and
 * `svc_operation_kind` of those that it changes. A row that would be created has the negative id of
 * its operation.
 */
export function throughSql(table: DeployedTable, through: ChangeRequestReading, bind: Bind): string {
  return `(${halvesSql(table, through, bind).rows.join(' union all ')}) through`;
}

/**
 * The two halves of that relation, those that it doesn't touch first. `countSql`: how many rows
 * more match than of the table itself; or, when only changed rows are read, how many match.
 * `columns`: the physical columns that the condition reads.
 */
export function halvesSql(
  table: DeployedTable,
  { changeRequestId, onlyChanged = false }: ChangeRequestReading,
  bind: Bind,
): { rows: string[]; countSql: (where: string, columns: ReadonlySet<string>) => string } {
  const { columns } = table.structure;
  const ofRequest = (alias: string) =>
    `${alias}.account_id = ${bind(table.account_id, 'int')} and ${alias}.change_request_id = ${bind(changeRequestId, 'int')}` +
    ` and ${alias}.table_definition_id = ${bind(table.table_definition_id, 'int')} and ${standingSql(alias)}`;
  const own = [...systemColumns, ...columns.map(columnName), 'svc_live'].map((name) => `b.${name}`);
  const untouched =
    `select ${own.join(', ')}, null::bigint as svc_operation_id, null::text as svc_operation_kind from ${tableName(table)} b` +
    ` where not exists (select from change_request_operation o where ${ofRequest('o')} and o.svc_sk = b.svc_sk)`;
  const isDeleted = `case o.kind when 'delete' then true when 'update' then t.svc_is_deleted else false end`;
  const system: Record<string, string> = {
    svc_sk: 'coalesce(o.svc_sk, -o.id)',
    svc_created_at: 'coalesce(t.svc_created_at, o.updated_at)',
    svc_updated_at: 'coalesce(t.svc_updated_at, o.updated_at)',
    svc_is_deleted: isDeleted,
    svc_version: 'coalesce(t.svc_version, 1)',
    svc_updated_by: 'case when t.svc_sk is null then o.updated_by else t.svc_updated_by end',
    svc_channel: 't.svc_channel',
    svc_request_id: 't.svc_request_id',
  };
  const cells = columns.map((column) => {
    const value = `case when o.kind in ('create', 'update') and ${hasCellSql('o.cells', column)} then (${cellSql('o.cells', column)}) else ${ownCellSql('t', column)} end`;
    return `(${value})::${typeOf(column).physical(column)} as ${columnName(column)}`;
  });
  const changed =
    `select ${[...systemColumns.map((name) => `${system[name]} as ${name}`), ...cells].join(', ')},` +
    ` case when ${isDeleted} then null else true end as svc_live, o.id as svc_operation_id, o.kind as svc_operation_kind` +
    ` from change_request_operation o left join ${tableName(table)} t on t.svc_sk = o.svc_sk` +
    ` where ${ofRequest('o')} and (o.kind = 'create' or t.svc_sk is not null)`;
  const touched = `select b.* from change_request_operation o join ${tableName(table)} b on b.svc_sk = o.svc_sk where ${ofRequest('o')}`;
  const counted = (where: string, read: ReadonlySet<string>) => {
    if (onlyChanged) return `(select count(*) from (${changed}) c${where})`;
    // A change of other columns than these leaves the count as it is.
    const keys = columns.filter((column) => read.has(columnName(column))).map(cellKey);
    const counts = `(o.kind <> 'update' or o.cells ?| array[${keys.join(', ')}]::text[])`;
    return `(select count(*) from (${changed} and ${counts}) c${where}) - (select count(*) from (${touched} and ${counts}) b${where})`;
  };
  return { rows: onlyChanged ? [changed] : [untouched, changed], countSql: counted };
}
