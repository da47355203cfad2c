// The versions of one row as the body of an answer, written by PostgreSQL. Pure.

import { metaSql, type PageNumbers } from '../../pages/page-sql.ts';
import { joinedSql, maxRecordBytes, mayOverflow } from '../../rows/answer-size.ts';
import { versionsSql } from '../../rows/as-of-sql.ts';
import { type Channel, channels } from '../../rows/origin.ts';
import { recordSql } from '../../rows/record-sql.ts';
import { columnName, historyName } from '../../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import { typeOf, valueTypes } from '../../values/value-types.ts';

/** A page of versions, newest first: one row `answer`, `total`; none when the table has changed. */
export function historySql(table: DeployedTable, id: string, page: PageNumbers): Statement {
  const values = new Values();
  const { bind } = values;
  const versions = versionsSql(table, id, bind);
  const window = `limit ${bind(page.perPage, 'int')} offset ${bind((page.page - 1) * page.perPage, 'bigint')}`;
  const shown = `(select * from versions order by svc_version desc ${window}) v`;
  // Besides the record a version has at most all names a second time.
  const items = joinedSql(itemSql(table, bind), shown, mayOverflow(page.perPage, 2 * maxRecordBytes(table)));
  return {
    text:
      `with versions as materialized (select * from ${versions} both_halves)` +
      ` select '{"data":[' || ${items} || ${metaSql(page, bind)} as answer, c as total` +
      ` from (select count(*) from versions) as counted(c) where ${currentSql(table, bind)}`,
    values: values.list,
  };
}

const actorSql = (prefix: string) =>
  `case when svc_updated_by like '${prefix}:%' then substr(svc_updated_by, ${prefix.length + 2}) else 'null' end`;

const channelNameSql = `case svc_channel ${Object.entries(channels)
  .map(([name, code]) => `when '${code}' then '"${name}"'`)
  .join(' ')} else 'null' end`;

const restoredSql = (table: DeployedTable) =>
  `svc_channel = '${channels.change_request}' and not svc_is_deleted` +
  ` and exists (select from ${historyName(table)} b where b.svc_sk = v.svc_sk and b.svc_version = v.svc_version - 1 and b.svc_is_deleted)`;

/**
 * The action of the version in scope (`v`), as JSON text. Only a restoration, a reversion or an
 * undo changes a deleted row, so the action follows from the version itself; a change request
 * restores too, which the version before tells. An undo reverts rows, or deletes those created.
 */
export const actionSql = (table: DeployedTable): string =>
  `case when svc_channel = '${channels.restore}' then '"restored"' when svc_channel = '${channels.revert}'` +
  ` or (svc_channel = '${channels.undo}' and not svc_is_deleted) then '"reverted"'` +
  ` when ${restoredSql(table)} then '"restored"'` +
  ` when svc_is_deleted then '"deleted"' when svc_version = 1 then '"created"' else '"updated"' end`;

/** The action as a member of a JSON object, after another one. */
export const actionMemberSql = (table: DeployedTable): string => `',"action":' || ${actionSql(table)}`;

/**
 * Where a version comes from, as members of a JSON object for `concat`; the row in scope is `v`.
 * Each begins with a comma.
 */
export function originMembersSql(table: DeployedTable, bind: Bind): string[] {
  const bulkWrite = (...of: Channel[]) =>
    `from bulk_write b where b.at = v.svc_updated_at and b.table_definition_id = ${bind(table.table_definition_id, 'int')}` +
    ` and v.svc_channel in (${of.map((channel) => `'${channels[channel]}'`).join(', ')})`;
  const request = `coalesce(svc_request_id, (select b.request_id ${bulkWrite('import', 'promotion', 'change_request')}))`;
  const changeRequest =
    `(select '{"id":' || b.change_request_id || ',"requested_by":' || coalesce(${actorSql('user')}, 'null')` +
    ` || ',"approved_by":' || coalesce(b.approved_by::text, 'null') || '}' ${bulkWrite('change_request')})`;
  return [
    `',"channel":' || ${channelNameSql}`,
    `',"user_id":' || coalesce(${actorSql('user')}, 'null')`,
    `',"application_id":' || coalesce(${actorSql('application')}, 'null')`,
    `',"request_id":' || coalesce(to_json(${request})::text, 'null')`,
    `',"change_request":' || coalesce(${changeRequest}, 'null')`,
  ];
}

function itemSql(table: DeployedTable, bind: Bind): string {
  return concatSql([
    `'{"svc_version":' || svc_version`,
    `',"valid_from":' || ${valueTypes.timestamptz.jsonSql('svc_updated_at')}`,
    `',"valid_to":' || coalesce(${valueTypes.timestamptz.jsonSql('svc_valid_to')}, 'null')`,
    actionMemberSql(table),
    ...originMembersSql(table, bind),
    `',"changed_columns":' || ${changedSql(table, bind)}`,
    `',"record":' || ${recordSql(table, bind)} || '}'`,
  ]);
}

// Compared with the version before; in a first version the columns with a value. Unknown when the
// history begins later than the row.
function changedSql(table: DeployedTable, bind: Bind): string {
  const names = table.structure.columns.map(
    (column) =>
      `case when p.${columnName(column)} is distinct from v.${columnName(column)} then ${bind(JSON.stringify(column.name), 'text')} end`,
  );
  return (
    `(select case when v.svc_version = 1 or p.svc_version is not null then '[' || array_to_string(array[${names.join(', ')}], ',') || ']' else 'null' end` +
    ' from (values (true)) one left join versions p on p.svc_version = v.svc_version - 1)'
  );
}

/**
 * The values of one version as texts, in the order of the table's columns: one row `cells`,
 * `svc_is_deleted`.
 */
export function versionSql(table: DeployedTable, id: string, version: number): Statement {
  const values = new Values();
  const cells = table.structure.columns.map((column) => typeOf(column).textSql(columnName(column)));
  return {
    text:
      `select array[${cells.join(', ')}]::text[] as cells, svc_is_deleted from ${versionsSql(table, id, values.bind)} versions` +
      ` where svc_version = ${values.bind(version, 'int')} and ${currentSql(table, values.bind)}`,
    values: values.list,
  };
}
