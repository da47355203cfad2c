// The operations of change requests and dry runs on rows: their cells as they are stored, and a
// table as it would be with them, as a relation that stands wherever a table's name can. Pure.
//
// Cells are JSON texts by the lineage of a column. A deployment may have changed the type of a
// column since, so a text is cast only where it is a value.
import { cellKey, columnName, tableName } from '../sql/identifiers.ts';
import type { ChangeRequestReading, DryRunReading } from '../tables/open-table.ts';
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
 * Operations on rows of a table: a relation with `id`, `kind`, `svc_sk`, `cells`, `updated_at`,
 * `updated_by`, and the condition under which its rows count.
 */
export type Operations = { relation: string; conditionSql: (alias: string) => string };

/** True in SQL for the operations of a request on a table. */
export const ofRequestSql = (alias: string, table: DeployedTable, changeRequestId: number, bind: Bind): string =>
  `${alias}.account_id = ${bind(table.account_id, 'int')} and ${alias}.change_request_id = ${bind(changeRequestId, 'int')}` +
  ` and ${alias}.table_definition_id = ${bind(table.table_definition_id, 'int')}`;

/** True in SQL for operations that concern whole rows, or name one of the columns. */
export const mayTouchSql = (operation: string, columns: Pick<Column, 'lineage_id'>[]): string =>
  `(${operation}.kind <> 'update' or ${operation}.cells ?| array[${columns.map(cellKey).join(', ')}]::text[])`;

/** The operations of a change request that would be applied. */
export function requestOperations(
  table: DeployedTable,
  { changeRequestId }: Pick<ChangeRequestReading, 'changeRequestId'>,
  bind: Bind,
): Operations {
  return {
    relation: 'change_request_operation',
    conditionSql: (alias) => `${ofRequestSql(alias, table, changeRequestId, bind)} and ${standingSql(alias)}`,
  };
}

/** What a dry run would do, in the order of its rows; `version`: of the row as it found it. */
export function dryRunOperations(
  { account_id }: Pick<DeployedTable, 'account_id'>,
  { loadId }: DryRunReading,
  bind: Bind,
): Operations {
  const operation = 'kind text, svc_sk bigint, version int, cells jsonb';
  return {
    relation:
      `(select row_number() over (order by b.number, x.place) as id, x.kind, x.svc_sk, x.version, x.cells, f.finished_at as updated_at, null::text as updated_by` +
      ` from finished_load f join changed_block b on b.account_id = f.account_id and b.load_id = f.load_id` +
      ` cross join lateral rows from (jsonb_to_recordset(b.operations) as (${operation})) with ordinality x(kind, svc_sk, version, cells, place)` +
      ` where f.account_id = ${bind(account_id, 'int')} and f.load_id = ${bind(loadId, 'text')})`,
    conditionSql: () => 'true',
  };
}

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
  through: ChangeRequestReading,
  bind: Bind,
): { rows: string[]; countSql: (where: string, columns: ReadonlySet<string>) => string } {
  const operations = requestOperations(table, through, bind);
  const { relation, conditionSql } = operations;
  const changed = changedSql(table, operations);
  const touched = `select b.* from ${relation} o join ${tableName(table)} b on b.svc_sk = o.svc_sk where ${conditionSql('o')}`;
  const counted = (where: string, read: ReadonlySet<string>) => {
    if (through.onlyChanged) return `(select count(*) from (${changed}) c${where})`;
    // A change of other columns than these leaves the count as it is.
    const counts = mayTouchSql(
      'o',
      table.structure.columns.filter((column) => read.has(columnName(column))),
    );
    return `(select count(*) from (${changed} and ${counts}) c${where}) - (select count(*) from (${touched} and ${counts}) b${where})`;
  };
  return { rows: through.onlyChanged ? [changed] : [untouchedSql(table, operations), changed], countSql: counted };
}

/** The rows of the table that the operations don't touch. */
export function untouchedSql(table: DeployedTable, { relation, conditionSql }: Operations): string {
  const own = [...systemColumns, ...table.structure.columns.map(columnName), 'svc_live'].map((name) => `b.${name}`);
  return (
    `select ${own.join(', ')}, null::bigint as svc_operation_id, null::text as svc_operation_kind from ${tableName(table)} b` +
    ` where not exists (select from ${relation} o where ${conditionSql('o')} and o.svc_sk = b.svc_sk)`
  );
}

/** The rows that they create or change, as they would be. */
export function changedSql(table: DeployedTable, { relation, conditionSql }: Operations): string {
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
  const cells = table.structure.columns.map((column) => {
    const value = `case when o.kind in ('create', 'update') and ${hasCellSql('o.cells', column)} then (${cellSql('o.cells', column)}) else ${ownCellSql('t', column)} end`;
    return `(${value})::${typeOf(column).physical(column)} as ${columnName(column)}`;
  });
  return (
    `select ${[...systemColumns.map((name) => `${system[name]} as ${name}`), ...cells].join(', ')},` +
    ` case when ${isDeleted} then null else true end as svc_live, o.id as svc_operation_id, o.kind as svc_operation_kind` +
    ` from ${relation} o left join ${tableName(table)} t on t.svc_sk = o.svc_sk` +
    ` where ${conditionSql('o')} and (o.kind = 'create' or t.svc_sk is not null)`
  );
}
