// The net changes of a window, like those of an incremental export (`exports/changes-sql.ts`) but
// as of the end of the window instead of now: one change for each primary key. First the lost keys,
// then the rows that changed and are live. Both in the order of svc_sk, by which pages go on. Pure.
//
// A copy may be a little younger than its mark says. So every key that a row has had in the window
// counts: one that was created and deleted again is a deletion, which changes nothing in a copy
// without it.

import { rowsSql } from '../rows/as-of-sql.ts';
import { historyName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { identityOf, keyJsonSql, otherKeySql, partSql, sameKeySql, versionColumns } from './change-sql.ts';
import type { Position } from './cursor.ts';
import { bindWindow, feedableSql, type Window } from './window-sql.ts';

type Part = { window: Window; position: Position; most: number };

const columnsSql = (table: DeployedTable, row: string) =>
  versionColumns(table)
    .map((column) => `${row}.${column}`)
    .join(', ');

/** Live rows of the mark that are not those of the end, by the versions that end in the window. */
const beforeSql = (table: DeployedTable, { mark, end }: Window, row: string) =>
  `${historyName(table)} ${row} where not ${row}.svc_is_deleted and ${row}.svc_updated_at <= ${mark}` +
  ` and ${row}.svc_valid_to > ${mark} and ${row}.svc_valid_to <= ${end}`;

/**
 * The keys that rows have lost. Such a key is deleted, unless a row has it that has not changed in
 * the window: that one had the key before the other one lost it, while the two writers overlapped.
 */
export function lostKeysSql(table: DeployedTable, { window, position, most }: Part): Statement {
  const values = new Values();
  const { bind } = values;
  const marks = bindWindow(window, bind);
  const { mark, end } = marks;
  const [live, past] = [tableName(table), historyName(table)];
  const isSame = (row: string) => sameKeySql(table, row, 'h');
  const changed = (row: string) => `${row}.svc_updated_at > ${mark} and ${row}.svc_updated_at <= ${end}`;
  const page =
    `select p.*, 0 as part, row_number() over (order by p.svc_sk, p.svc_version) as place from (` +
    `select ${columnsSql(table, 'h')} from ${past} h where h.svc_valid_to > ${mark} and h.svc_valid_to <= ${end}` +
    ` and not h.svc_is_deleted and (${identityOf(table)
      .map((column) => `h.${column}`)
      .join(', ')}) is not null` +
    ` and (h.svc_sk, h.svc_version) > (${bind(position.id, 'bigint')}, ${bind(position.version, 'int')})` +
    // The last version of the row with this key.
    ` and not exists (select from ${past} n where n.svc_sk = h.svc_sk and n.svc_version > h.svc_version` +
    ` and not n.svc_is_deleted and n.svc_valid_to <= ${end} and ${isSame('n')})` +
    // Not the key of a row that is live and changed, which comes later.
    ` and not exists (select from ${live} o where o.svc_live and ${isSame('o')} and ${changed('o')})` +
    ` and not exists (select from ${past} o where not o.svc_is_deleted and ${isSame('o')} and ${changed('o')} and o.svc_valid_to > ${end})` +
    ` order by h.svc_sk, h.svc_version limit ${bind(most + 1, 'int')}) p`;
  // The row as of the end, or the unchanged one that has the key.
  const state = `select * from ${rowsSql(table, end)} where as_of.svc_sk = p.svc_sk`;
  const owner = (relation: string, condition: string, name: string) =>
    `left join (select * from ${relation} o where ${condition} and o.svc_updated_at <= ${mark}) ${name} on ${sameKeySql(table, name, 'p')}`;
  const owned = '(ot.svc_sk is not null or oh.svc_sk is not null)';
  const shown = versionColumns(table).map(
    (column) =>
      `case when ot.svc_sk is not null then ot.${column} when oh.svc_sk is not null then oh.${column} else s.${column} end as ${column}`,
  );
  const changes =
    `select p.place, case when ${owned} then 'updated' else 'deleted' end as change,` +
    ` ${keyJsonSql(table, 'p', bind)} as key, null::text as key_before,` +
    ` case when not ${owned} and not s.svc_is_deleted then ${keyJsonSql(table, 's', bind)} end as key_after, ${shown.join(', ')}` +
    ` from page p cross join lateral (${state}) s` +
    ` ${owner(live, 'o.svc_live', 'ot')}` +
    ` ${owner(past, `not o.svc_is_deleted and o.svc_valid_to > ${end}`, 'oh')}`;
  return statement(table, { page, changes, most }, mark, values);
}

/** The rows that have changed and are live. */
export function changedRowsSql(table: DeployedTable, { window, position, most }: Part): Statement {
  const values = new Values();
  const { bind } = values;
  const marks = bindWindow(window, bind);
  const { mark, end } = marks;
  const page =
    `select p.*, 1 as part, row_number() over (order by p.svc_sk) as place from (` +
    `select ${columnsSql(table, 'as_of')} from ${rowsSql(table, end)} where as_of.svc_live` +
    ` and as_of.svc_updated_at > ${mark} and as_of.svc_sk > ${bind(position.id, 'bigint')}` +
    ` order by as_of.svc_sk limit ${bind(most + 1, 'int')}) p`;
  const isKnown = `b.svc_sk is not null or exists (select from ${beforeSql(table, marks, 'k')} and ${sameKeySql(table, 'k', 'p')})`;
  const changes =
    `select p.place, case when ${isKnown} then 'updated' else 'created' end as change, ${keyJsonSql(table, 'p', bind)} as key,` +
    ` case when b.svc_sk is not null and ${otherKeySql(table, 'b', 'p')} then ${keyJsonSql(table, 'b', bind)} end as key_before,` +
    ` null::text as key_after, ${columnsSql(table, 'p')}` +
    ` from page p left join lateral (select * from ${beforeSql(table, marks, 'h')} and h.svc_sk = p.svc_sk) b on true`;
  return statement(table, { page, changes, most }, mark, values);
}

function statement(
  table: DeployedTable,
  part: { page: string; changes: string; most: number },
  mark: string,
  values: Values,
): Statement {
  const bind: Bind = values.bind;
  return { text: partSql(table, part, feedableSql(table, mark, bind), bind), values: values.list, customPlan: true };
}
