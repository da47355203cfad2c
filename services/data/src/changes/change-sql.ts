// A change as the JSON that callers get: what happened to which key, where it comes from, and the
// record. Pure.

import { originMembersSql } from '../records/history/history-sql.ts';
import { joinedSql, maxRecordBytes, mayOverflow } from '../rows/answer-size.ts';
import { systemColumns } from '../rows/fields.ts';
import { objectSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { recordSql } from '../rows/record-sql.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { concatSql } from '../sql/statement.ts';
import { type DeployedTable, keyColumns } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { valueTypes } from '../values/value-types.ts';
import type { Position } from './cursor.ts';

/** The columns that identify a row: its key, else svc_sk. */
export function identityOf({ structure }: DeployedTable): string[] {
  const key = keyColumns(structure).map(columnName);
  return key.length === 0 ? ['svc_sk'] : key;
}

/** Whether two rows have the same key. */
export const sameKeySql = (table: DeployedTable, some: string, other: string): string =>
  identityOf(table)
    .map((column) => `${some}.${column} = ${other}.${column}`)
    .join(' and ');

/** Whether two rows have different keys; a column may be newer than a version. */
export const otherKeySql = (table: DeployedTable, some: string, other: string): string =>
  `(${identityOf(table)
    .map((column) => `${some}.${column}`)
    .join(', ')}) is distinct from (${identityOf(table)
    .map((column) => `${other}.${column}`)
    .join(', ')})`;

/** The columns of a version. */
export const versionColumns = ({ structure }: DeployedTable): string[] => [
  ...systemColumns,
  ...structure.columns.map(columnName),
];

/** The key of a row as a JSON object. */
export function keyJsonSql(table: DeployedTable, row: string, bind: Bind): string {
  const key = keyColumns(table.structure);
  if (key.length === 0) return `'{"svc_sk":' || ${row}.svc_sk || '}'`;
  const member = (column: (typeof key)[number]) => ({
    name: column.name,
    json: valueJsonSql(table, column, `${row}.${columnName(column)}`),
  });
  return objectSql(key.map(member), bind);
}

/**
 * The changes of a relation `v` as JSON, in its order: versions with `change`, and the JSON of
 * `key`, and of `key_before` and `key_after` or null.
 */
export function changesJsonSql(table: DeployedTable, relation: string, most: number, bind: Bind): string {
  const change = concatSql([
    `'{"change":"' || v.change || '","svc_sk":' || v.svc_sk || ',"svc_version":' || v.svc_version`,
    `',"at":' || ${valueTypes.timestamptz.jsonSql('v.svc_updated_at')}`,
    `',"key":' || v.key || ',"key_before":' || coalesce(v.key_before, 'null') || ',"key_after":' || coalesce(v.key_after, 'null')`,
    ...originMembersSql(table, bind),
    `',"record":' || ${recordSql(table, bind)} || '}'`,
  ]);
  // Besides the record a change may have its key three times.
  return joinedSql(change, `${relation} v`, mayOverflow(most, 4 * maxRecordBytes(table)));
}

/** A part of a page: its changes as JSON, how many there are, and the last answered one. */
export type PagePart = { items: string; found: number } & { [Name in keyof Position]: Position[Name] | null };

/**
 * The statement of a part of a page. `page`: a relation of at most `most` + 1 versions with their
 * `part`, and their `place` from 1; the one too many is left out. `changes`: the relation of their
 * changes with their `place`, over `page`.
 */
export function partSql(
  table: DeployedTable,
  { page, changes, most }: { page: string; changes: string; most: number },
  condition: string,
  bind: Bind,
): string {
  const last = bind(most, 'int');
  const shown = `(select * from (${changes}) c where c.place <= ${last} order by c.place)`;
  const lastSql = (column: string) =>
    `(select p.${column} from page p where p.place <= ${last} order by p.place desc limit 1)`;
  // Every session locks a table before its history, in the order in which a statement names them.
  const locked = `locked as (select from ${tableName(table)})`;
  return (
    `with ${locked}, page as materialized (${page}) select ${changesJsonSql(table, shown, most, bind)} as items,` +
    ` (select count(*)::int from page) as found,` +
    ` to_char(${lastSql('svc_updated_at')}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,` +
    ` ${lastSql('part')} as part, ${lastSql('svc_sk')} as id, ${lastSql('svc_version')} as version where ${condition}`
  );
}
