// Rows whose values a deployment changes get a new version, as if a person had changed them, so
// that history, `as_of` and the next incremental export include the change. Pure.

import { monotonicSql, nowSql } from '../../records/write-sql.ts';
import { channelSql } from '../../rows/origin.ts';
import { columnName, tableName } from '../../sql/identifiers.ts';
import type { Column, DeployedTable, WantedTable } from '../../tables/table.ts';
import { typeOf } from '../../values/value-types.ts';
import { findCast, keepsValues } from './casts.ts';

/**
 * Sets for the transaction who deploys; the statements read it, as they are shown before a person
 * deploys them.
 */
export const setDeployerSql =
  "select set_config('almanac.actor', $1, true), set_config('almanac.request_id', $2, true)";

/**
 * The statement that writes the new versions, while the table is still as it was; none when no
 * value changes, or the table is new.
 */
export function rewriteRowsSql(old: DeployedTable | undefined, wanted: WantedTable): string[] {
  if (!old) return [];
  const next = new Map(wanted.structure.columns.map((column) => [column.lineage_id, column]));
  const changes = old.structure.columns.flatMap((column) => changesSql(column, next.get(column.lineage_id)) ?? []);
  if (changes.length === 0) return [];
  const sets = [
    `svc_updated_at = ${monotonicSql('t.')}`,
    'svc_version = t.svc_version + 1',
    `svc_updated_by = current_setting('almanac.actor')`,
    `svc_request_id = current_setting('almanac.request_id')`,
    `svc_channel = ${channelSql('deployment')}`,
  ];
  return [
    `update ${tableName(old)} t set ${sets.join(', ')} from (select ${nowSql} as at) clock` +
      // Values of deleted rows may fail to cast.
      ` where case when t.svc_is_deleted then false else ${changes.join(' or ')} end`,
  ];
}

const numbers = new Set(['integer', 'decimal', 'real', 'double']);

/** Whether the value of a row changes; undefined: never. */
function changesSql(was: Column, column: Column | undefined): string | undefined {
  const x = columnName(was);
  if (!column) return `${x} is not null`;
  const cast = findCast(was, column);
  if (!cast || keepsValues(was, column)) return undefined;
  const [from, to] = [typeOf(was), typeOf(column)];
  if (from.family === to.family && (from.family === 'text' || from.family === 'decimal'))
    return cast.lossy && `${x} is not null and ${cast.lossy(x)}`;
  // A number is equal in another type, however it is written.
  const isNumber = numbers.has(from.family) && numbers.has(to.family);
  const [before, after] = isNumber
    ? [`${x}::text::numeric`, `(${cast.value(x)})::text::numeric`]
    : [`(${from.jsonSql(x)})::text`, `(${to.jsonSql(`(${cast.value(x)})`)})::text`];
  return `${x} is not null and ${before} is distinct from ${after}`;
}
