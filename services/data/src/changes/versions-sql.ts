// Each version that came about in a window, in the order of time. Of those with the same time, rows
// that are deleted come first, so that a key is free before another row takes it. Pure.

import { columnName, historyName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import { keyJsonSql, otherKeySql, partSql, versionColumns } from './change-sql.ts';
import type { Position } from './cursor.ts';
import { bindWindow, feedableSql, type Window } from './window-sql.ts';

/** A page of the versions after a position. */
export function versionsSql(
  table: DeployedTable,
  { window, position, most }: { window: Window; position: Position; most: number },
): Statement {
  const values = new Values();
  const { bind } = values;
  const { mark, end } = bindWindow(window, bind);
  const columns = versionColumns(table).join(', ');
  const begun = `svc_updated_at > ${mark} and svc_updated_at <= ${end}`;
  const both = (condition: string) =>
    `(select ${columns}, 'infinity'::timestamptz as svc_valid_to from ${tableName(table)} where ${condition} union all` +
    ` select ${columns}, svc_valid_to from ${historyName(table)} where svc_valid_to >= ${mark} and ${condition})`;
  // A row may have several versions of one millisecond; they stay together.
  const isDeleted =
    `case when v.svc_valid_to > v.svc_updated_at then v.svc_is_deleted` +
    ` else exists (select from ${both(begun)} l where l.svc_sk = v.svc_sk and l.svc_updated_at = v.svc_updated_at` +
    ` and l.svc_valid_to > l.svc_updated_at and l.svc_is_deleted) end`;
  const { at, part, id, version } = position;
  const after = `(${bind(at, 'timestamptz')}, ${bind(part, 'int')}, ${bind(id, 'bigint')}, ${bind(version, 'int')})`;
  const order = 'svc_updated_at, part, svc_sk, svc_version';
  const page =
    `select p.*, row_number() over (order by ${order}) as place from (` +
    `select * from (select v.*, case when ${isDeleted} then 0 else 1 end as part from ${both(begun)} v) v` +
    ` where (${order}) > ${after} order by ${order} limit ${bind(most + 1, 'int')}) p`;
  const names = [...new Set(['svc_is_deleted', ...table.structure.columns.map(columnName)])].join(', ');
  const before = `select true as known, svc_sk, ${names} from ${historyName(table)} b where b.svc_sk = p.svc_sk and b.svc_version = p.svc_version - 1`;
  const changes =
    `select p.*, case when p.svc_is_deleted then 'deleted' when p.svc_version = 1 or b.svc_is_deleted then 'created' else 'updated' end as change,` +
    ` ${keyJsonSql(table, 'p', bind)} as key, null::text as key_after,` +
    ` case when b.known and not b.svc_is_deleted and ${otherKeySql(table, 'b', 'p')} then ${keyJsonSql(table, 'b', bind)} end as key_before` +
    ` from page p left join lateral (${before}) b on true`;
  return {
    text: partSql(table, { page, changes, most }, feedableSql(table, mark, bind), bind),
    values: values.list,
    customPlan: true,
  };
}
