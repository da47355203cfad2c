// The windows of a change feed: the changes later than one mark up to another. Both marks are past
// every open transaction, so what a window has never changes, however often it is read. Pure.

import { historyName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';

/** A window; both marks in ISO 8601. */
export type Window = { mark: string; end: string };

/** The placeholders of the marks of a window. */
export const bindWindow = ({ mark, end }: Window, bind: Bind): Window => ({
  mark: bind(mark, 'timestamptz'),
  end: bind(end, 'timestamptz'),
});

/** True in SQL while the table is as its entry says, and all versions since the mark are kept. */
export function feedableSql(table: DeployedTable, mark: string, bind: Bind): string {
  const id = bind(table.table_definition_id, 'int');
  return (
    currentSql(table, bind) +
    ` and exists (select from deployed_table d where d.table_definition_id = ${id} and d.history_since <= ${mark})`
  );
}

/**
 * Where a window has to end earlier, for it has more than `most` versions: one row `cut`, in ISO
 * 8601 or null; none when the table can't be read from the mark.
 */
export function cutSql(table: DeployedTable, window: Window, most: number): Statement {
  const values = new Values();
  const { bind } = values;
  const { mark, end } = bindWindow(window, bind);
  const full = `(select at from ${timesSql(table, { mark, end })} v order by at offset ${bind(most - 1, 'int')} limit 1) full_window`;
  const cut = `select at from ${full} where exists (select from ${timesSql(table, { mark: 'full_window.at', end })} later)`;
  return {
    text: `select to_char((${cut}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as cut where ${feedableSql(table, mark, bind)}`,
    values: values.list,
    customPlan: true,
  };
}

/** Whether any version came about in a window: one row `any`; none as above. */
export function anyChangeSql(table: DeployedTable, window: Window): Statement {
  const values = new Values();
  const { bind } = values;
  const { mark, end } = bindWindow(window, bind);
  return {
    text: `select exists (select from ${timesSql(table, { mark, end })} v) as any where ${feedableSql(table, mark, bind)}`,
    values: values.list,
    customPlan: true,
  };
}

// When the versions of a window came about. A version ends after it has begun, so the index of ends
// serves the history.
const timesSql = (table: DeployedTable, { mark, end }: Window) =>
  `(select svc_updated_at as at from ${tableName(table)} where svc_updated_at > ${mark} and svc_updated_at <= ${end}` +
  ` union all select svc_updated_at from ${historyName(table)}` +
  ` where svc_valid_to > ${mark} and svc_updated_at > ${mark} and svc_updated_at <= ${end})`;
