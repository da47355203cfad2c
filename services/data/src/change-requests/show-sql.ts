// Operations as callers get them, written by PostgreSQL: values as records show them. Pure.
import { withinAnswerSql } from '../rows/answer-size.ts';
import { arraySql, instantSql, objectSql, textJsonSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { cellSql, hasCellSql, ownCellSql } from '../rows/proposed-sql.ts';
import { recordSql } from '../rows/record-sql.ts';
import { tableName } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { cellConflictSql, rowConflictSql } from './conflict-sql.ts';

/** Which operations: those of `tables`, and alike in this. */
export type Wanted = { kind?: string; decision?: string; has_problem?: boolean };

type Request = { account_id: number; id: number };

/** The condition of these operations (`o`). */
export function wantedSql(request: Request, tables: readonly number[], wanted: Wanted, bind: Bind): string {
  return [
    `o.account_id = ${bind(request.account_id, 'int')} and o.change_request_id = ${bind(request.id, 'int')}`,
    `o.table_definition_id = any(${bind(tables, 'int[]')})`,
    ...(wanted.kind === undefined ? [] : [`o.kind = ${bind(wanted.kind, 'text')}`]),
    ...(wanted.decision === undefined ? [] : [`o.decision = ${bind(wanted.decision, 'text')}`]),
    ...(wanted.has_problem === undefined ? [] : [`o.has_problem = ${bind(wanted.has_problem, 'boolean')}`]),
  ].join(' and ');
}

type Window = { offset: number; limit: number };

/** The ids of a window, with their tables, in the order in which the operations were added. */
export function windowSql(request: Request, tables: readonly number[], wanted: Wanted, window: Window): Statement {
  const { bind, list } = new Values();
  return {
    text:
      `select o.id, o.table_definition_id from change_request_operation o where ${wantedSql(request, tables, wanted, bind)}` +
      ` order by o.id limit ${bind(window.limit, 'int')} offset ${bind(window.offset, 'bigint')}`,
    values: list,
    customPlan: true,
  };
}

/**
 * One row: `answer`, the JSON objects of these operations with commas between them. None when a
 * table has changed. The statement fails when they exceed an answer.
 */
export function showSql(request: Request, tables: readonly DeployedTable[], ids: readonly number[]): Statement {
  const { bind, list } = new Values();
  if (tables.length === 0) return { text: `select '' as answer`, values: [] };
  const account = bind(request.account_id, 'int');
  const id = bind(request.id, 'int');
  const some = bind(ids, 'bigint[]');
  const each = tables.map((table) => {
    const definition = bind(table.table_definition_id, 'int');
    return (
      `select o.id, ${operationSql(table, bind)} as json from change_request_operation o left join ${tableName(table)} t on t.svc_sk = o.svc_sk` +
      ` where o.account_id = ${account} and o.change_request_id = ${id} and o.table_definition_id = ${definition} and o.id = any(${some})`
    );
  });
  const counted = `select id, json, sum(octet_length(json)) over (order by id rows unbounded preceding) as bytes from (${each.join(' union all ')} offset 0) e`;
  return {
    text:
      `select (select coalesce(string_agg(${withinAnswerSql('json', 'bytes')}, ',' order by id), '') from (${counted}) counted) as answer` +
      ` where ${tables.map((table) => currentSql(table, bind)).join(' and ')}`,
    values: list,
    customPlan: true,
  };
}

function operationSql(table: DeployedTable, bind: Bind): string {
  const { columns } = table.structure;
  const key = keyColumns(table.structure);
  const cells = (column: Column) => cellSql('o.cells', column);
  const base = (column: Column) => cellSql('o.base', column);
  const keyOf = (column: Column) =>
    `case when o.kind = 'create' then (${cells(column)}) when t.svc_sk is not null then ${ownCellSql('t', column)} else (${base(column)}) end`;
  const conflicts = objectSql(
    columns.map((column) => ({
      name: column.name,
      json: concatSql([
        `'{"base":'`,
        valueJsonSql(table, column, base(column)),
        `',"proposed":'`,
        valueJsonSql(table, column, cells(column)),
        `',"current":'`,
        valueJsonSql(table, column, ownCellSql('t', column)),
        `'}'`,
      ]),
      when: cellConflictSql('o', 't', column),
    })),
    bind,
  );
  const shown = (source: string, value: (column: Column) => string, some: readonly Column[] = columns) =>
    objectSql(
      some.map((column) => ({
        name: column.name,
        json: valueJsonSql(table, column, value(column)),
        when: source === '' ? 'true' : hasCellSql(source, column),
      })),
      bind,
    );
  const changed = arraySql(
    columns.map((column) => ({
      json: bind(JSON.stringify(column.name), 'text'),
      when: `(${hasCellSql('o.cells', column)} and (${cells(column)}) is distinct from (${base(column)}))`,
    })),
  );
  return concatSql([
    `'{"id":'`,
    'o.id',
    `',"table_definition_id":'`,
    'o.table_definition_id',
    `',"kind":"'`,
    'o.kind',
    `'","key":'`,
    shown('', keyOf, key),
    `',"svc_sk":'`,
    `coalesce(o.svc_sk::text, 'null')`,
    `',"base_version":'`,
    `coalesce(o.base_version::text, 'null')`,
    `',"base":'`,
    `case when o.kind = 'create' then 'null' else ${shown('o.base', base)} end`,
    `',"proposed":'`,
    `case when o.kind in ('delete', 'restore') then 'null' else ${shown('o.cells', cells)} end`,
    `',"current":'`,
    `coalesce((select ${recordSql(table, bind)} from ${tableName(table)} where svc_sk = o.svc_sk), 'null')`,
    `',"changed_columns":'`,
    changed,
    `',"conflict":'`,
    `case when ${rowConflictSql('o', 't')} then '{"row":true,"columns":{}}' else (select case when c = '{}' then 'null' else '{"row":false,"columns":' || c || '}' end from (select ${conflicts} as c offset 0) c) end`,
    `',"problems":'`,
    'o.problems::text',
    `',"decision":"'`,
    'o.decision',
    `'","decided_by":'`,
    `coalesce(o.decided_by::text, 'null')`,
    `',"decided_at":'`,
    instantSql('o.decided_at'),
    `',"comment":'`,
    textJsonSql('o.comment'),
    `'}'`,
  ]);
}
