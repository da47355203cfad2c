// What the list of tables shows of each, as one statement for many tables. Pure.
import { type Counting, countSql } from '../pages/count-sql.ts';
import type { RowSelection } from '../pages/filter.ts';
import { whereSql } from '../pages/page-sql.ts';
import { tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';

/** All rows that are not deleted. */
export const liveRows: RowSelection = { filter: { all: [] }, includeDeleted: false };

/** `estimate`: null while PostgreSQL has no statistics. `rows`: null in a table of many rows. */
export type TableFacts = {
  table_definition_id: number;
  changed_at: string | null;
  changed_by: string | null;
  estimate: number | null;
  rows: number | null;
};

export type ImportFact = { table_definition_id: number; id: number; at: string; status: string };

// Of a table without statistics, which was made a moment ago.
const assumedRowBytes = 100;

/**
 * A row for each table that is deployed as its entry says. Tables of about `maxRows` rows or more
 * are not counted: a subquery of CASE runs only where it is needed.
 */
export function tableFactsSql(tables: readonly DeployedTable[], maxRows: number): Statement {
  const values = new Values();
  const { bind } = values;
  const most = bind(maxRows, 'float8');
  return {
    text: tables.map((table) => factsSql(table, most, bind)).join(' union all '),
    values: values.list,
    customPlan: true,
  };
}

function factsSql(table: DeployedTable, most: string, bind: Bind): string {
  const name = tableName(table);
  const pages = `pg_relation_size(c.oid) / current_setting('block_size')::float8`;
  const estimate = `case when c.reltuples >= 0 and c.relpages > 0 then c.reltuples / c.relpages * ${pages} end`;
  const counted = `(select count(*) from ${name}${whereSql(liveRows, bind)})`;
  const last = `select svc_updated_at, svc_updated_by from ${name} order by svc_updated_at desc limit 1`;
  return (
    `select ${bind(table.table_definition_id, 'int')} as table_definition_id, to_char(l.svc_updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as changed_at,` +
    ` l.svc_updated_by as changed_by, round(s.estimate)::bigint as estimate,` +
    ` case when coalesce(s.estimate, s.bytes / ${assumedRowBytes}) < ${most} then ${counted} end as rows` +
    ` from (select ${estimate} as estimate, pg_relation_size(c.oid)::float8 as bytes from pg_class c where c.oid = to_regclass('${name}')) s` +
    ` left join lateral (${last}) l on true where ${currentSql(table, bind)}`
  );
}

/** The count of the rows, worked out from a cached one: one row `c`, `changes`, `since`. */
export function recountSql(table: DeployedTable, counting: Counting): Statement {
  const values = new Values();
  const { bind } = values;
  const { ctes, from, columns } = countSql(table, whereSql(liveRows, bind), counting, bind);
  const begin = ctes.length === 0 ? '' : `with ${ctes.join(', ')} `;
  return {
    text: `${begin}select true as is_current${columns} from ${from} where ${currentSql(table, bind)}`,
    values: values.list,
  };
}

/** The latest import of each table: rows `ImportFact`; none for a table without one. */
export function lastImportsSql(accountId: number, ids: readonly number[]): Statement {
  return {
    text: `select t.id as table_definition_id, l.* from unnest($2::int[]) t(id) cross join lateral (
        select import_id as id, to_char(finished_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, result->>'status' as status from finished_load
        where account_id = $1::int and table_definition_id = t.id and import_id is not null
        order by finished_at desc limit 1) l`,
    values: [accountId, ids],
  };
}
