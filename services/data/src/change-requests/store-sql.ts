// The statements that store operations: cells in the form of `textSql`, and beside them the values
// that they are based on. Pure.
import type { Problem } from '@almanac/service-kit/problems';
import { historyName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, getColumn, keyColumns } from '../tables/table.ts';
import { cellSql, ownCellSql, storedCellsSql } from './stored-cells.ts';

export type Kind = 'create' | 'update' | 'delete' | 'restore';

/**
 * An operation to be stored. `version`: of the row that it is based on; null for the present one.
 * `cells`: texts by lineage. `merges`: changes the cells of an operation that is there, and keeps
 * the base of the others.
 */
export type NewOperation = {
  place: number;
  kind: Kind;
  svc_sk: string | null;
  version: number | null;
  cells: Record<string, string | null>;
  /** The operation on this row that the request has already. */
  replaces: number | null;
  merges: boolean;
  problems: Problem[];
};

type Place = { changeRequestId: number; actor: string };

const givenShape =
  'place int, kind text, svc_sk bigint, version int, cells jsonb, replaces bigint, merges boolean, problems jsonb';

/**
 * Stores operations of one table, undecided. Returns `place` and `id` of each; no row when the
 * table has changed.
 */
export function storeSql(
  table: DeployedTable,
  operations: NewOperation[],
  { changeRequestId, actor }: Place,
): Statement {
  const values = new Values();
  const { bind } = values;
  const given = bind(JSON.stringify(operations), 'jsonb');
  const account = bind(table.account_id, 'int');
  const request = bind(changeRequestId, 'int');
  const definition = bind(table.table_definition_id, 'int');
  const by = bind(actor, 'text');
  const lineages = new Set(operations.flatMap(({ cells }) => Object.keys(cells).map(Number)));
  const named = [...lineages].map((lineage) => getColumn(table.structure, lineage));
  const cells = storedCellsSql(
    named,
    (column) => `(${cellSql('g.cells', column)})`,
    (key) => `g.cells ? ${key}`,
  );
  const key = keyColumns(table.structure);
  const based = [...new Set<Column>([...key, ...named])];
  const keys = key.map(({ lineage_id }) => String(lineage_id));
  const baseOf = (row: string) =>
    storedCellsSql(
      based,
      (column) => ownCellSql(row, column),
      (name) => `(g.cells ? ${name} or ${name} = any(${bind(keys, 'text[]')}))`,
    );
  const history = `select * from ${historyName(table)} h where h.svc_sk = g.svc_sk and h.svc_version = g.version limit 1`;
  return {
    text:
      `with given as (select * from jsonb_to_recordset(${given}) as g(${givenShape}) where ${currentSql(table, bind)}),` +
      ` based as (select g.place, g.kind, g.svc_sk, g.replaces, g.merges, g.problems, coalesce(g.version, t.svc_version) as base_version, ${cells} as cells,` +
      ` case when h.svc_sk is not null then ${baseOf('h')} when t.svc_version = coalesce(g.version, t.svc_version) then ${baseOf('t')} else '{}' end as base` +
      ` from given g left join ${tableName(table)} t on t.svc_sk = g.svc_sk` +
      ` left join lateral (${history}) h on g.version <> t.svc_version),` +
      ` ready as materialized (select *, coalesce(replaces, nextval(pg_get_serial_sequence('change_request_operation', 'id'))) as id from (select * from based order by place) b),` +
      ` changed as (update change_request_operation o set kind = r.kind, problems = r.problems, decision = 'undecided', decided_by = null, decided_at = null, comment = null,` +
      ` updated_by = ${by}, updated_at = now(), cells = case when r.merges then o.cells || r.cells else r.cells end,` +
      ` base = case when r.merges then r.base || o.base else r.base end, base_version = case when r.merges then o.base_version else r.base_version end` +
      ` from ready r where o.account_id = ${account} and o.change_request_id = ${request} and o.id = r.replaces),` +
      ` created as (insert into change_request_operation (account_id, change_request_id, id, table_definition_id, kind, svc_sk, base_version, cells, base, problems, updated_by)` +
      ` overriding system value select ${account}, ${request}, id, ${definition}, kind, svc_sk, base_version, cells, base, problems, ${by} from ready where replaces is null)` +
      ` select place, id from ready order by place`,
    values: values.list,
  };
}

/** The operations that a request has on these rows, with their problems. */
export function sameRowsSql(table: DeployedTable, changeRequestId: number, ids: string[]): Statement {
  const { bind, list } = new Values();
  return {
    text:
      `select id, svc_sk::text as svc_sk, kind, problems from change_request_operation where account_id = ${bind(table.account_id, 'int')}` +
      ` and change_request_id = ${bind(changeRequestId, 'int')} and table_definition_id = ${bind(table.table_definition_id, 'int')}` +
      ` and svc_sk = any(${bind(ids, 'bigint[]')})`,
    values: list,
  };
}
