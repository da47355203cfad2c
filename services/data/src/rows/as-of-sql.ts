// Tables as they were at an instant, as relations that stand wherever a table's name can. A version
// holds from its svc_updated_at until that of the next one. Pure.

import { columnName, historyName, tableName } from '../sql/identifiers.ts';
import { currentSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { systemColumns } from './fields.ts';

type Table = Pick<DeployedTable, 'branch_id' | 'lineage_id' | 'structure'>;

const columnsOf = (table: Table) => [...systemColumns, ...table.structure.columns.map(columnName)].join(', ');

/**
 * The rows of a table at an instant (`at`, an expression), deleted ones too, in today's columns;
 * without an instant the table itself. PostgreSQL pushes a filter into both halves, so that their
 * indexes serve it.
 */
export function rowsSql(table: Table, at: string | undefined): string {
  if (at === undefined) return tableName(table);
  const columns = columnsOf(table);
  return (
    `(select ${columns}, svc_live from ${tableName(table)} where svc_updated_at <= ${at} union all` +
    ` select ${columns}, case when svc_is_deleted then null else true end from ${historyName(table)}` +
    ` where svc_updated_at <= ${at} and svc_valid_to > ${at}) as_of`
  );
}

/** All versions of one row; `svc_valid_to` of the present one is null. */
export function versionsSql(table: Table, id: string, bind: Bind): string {
  const columns = columnsOf(table);
  const row = `svc_sk = ${bind(id, 'bigint')}`;
  return (
    `(select ${columns}, null::timestamptz as svc_valid_to from ${tableName(table)} where ${row} union all` +
    ` select ${columns}, svc_valid_to from ${historyName(table)} where ${row})`
  );
}

/**
 * True in SQL while the table is deployed as `table` describes it, and the instant is neither in
 * the future nor before the history. Without an instant, `currentSql`.
 */
export function answerableSql(table: DeployedTable, at: string | undefined, bind: Bind): string {
  const current = currentSql(table, bind);
  if (at === undefined) return current;
  const id = bind(table.table_definition_id, 'int');
  return (
    `${current} and ${at} <= clock_timestamp()` +
    ` and exists (select from deployed_table d where d.table_definition_id = ${id} and d.history_since <= ${at})`
  );
}
