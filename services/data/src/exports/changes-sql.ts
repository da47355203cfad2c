// The net changes of a table after a mark, in order, for keeping a copy of it: one row for each
// primary key. First the deleted keys, then the rows that are live now
// (docs/how-to/keep-a-copy.md). Pure.
//
// A copy may be a little younger than its mark says. So every key that a changed row has had since
// then counts: one that was created and deleted again is exported as deleted, which changes nothing
// in a copy without it.

import { columnName, historyName, tableName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import { type DeployedTable, keyColumns } from '../tables/table.ts';
import { exportRowsSql } from './export-sql.ts';

/** The columns that identify a row: its key, else svc_sk. */
function identityOf({ structure }: DeployedTable): string[] {
  const key = keyColumns(structure).map(columnName);
  return key.length === 0 ? ['svc_sk'] : key;
}

const instant = (mark: string) => `${quoteLiteral(mark)}::timestamptz`;

// Versions with a key that ended after the mark: their rows were changed since, or deleted. A
// column may be newer than a version.
const endedSql = (table: DeployedTable, mark: string) =>
  `${historyName(table)} h where svc_valid_to > ${instant(mark)} and not svc_is_deleted` +
  ` and (${identityOf(table).join(', ')}) is not null`;

// Of those, the versions of the mark itself.
const existedSql = (table: DeployedTable, mark: string) =>
  `${endedSql(table, mark)} and svc_updated_at <= ${instant(mark)}`;

/** Whether any of the changed rows existed at the mark: one row `found`. */
export const anyBeforeSql = (table: DeployedTable, mark: string): string =>
  `select exists (select from ${existedSql(table, mark)}) as found`;

/** The deleted keys, with the last values of their rows and the time of deletion. */
export function deletedKeysSql(table: DeployedTable, mark: string): string {
  const key = identityOf(table);
  const equal = key.map((column) => `t.${column} = h.${column}`).join(' and ');
  const columns = table.structure.columns.map(columnName);
  const last =
    `(select distinct on (${key.join(', ')}) svc_sk, svc_created_at, svc_valid_to as svc_updated_at` +
    `${columns.map((column) => `, ${column}`).join('')} from ${endedSql(table, mark)}` +
    ` and not exists (select from ${tableName(table)} t where t.svc_live and ${equal})` +
    ` order by ${key.join(', ')}, svc_valid_to desc, svc_sk desc) deleted`;
  return `${exportRowsSql(table, last, { code: "'d'", isDeleted: true })} order by svc_sk`;
}

/**
 * The live rows that changed: `u` where their key existed at the mark, else `i`. `anyBefore`: the
 * result of `anyBeforeSql`; without any existing key none needs a look-up.
 */
export function changedRowsSql(table: DeployedTable, mark: string, anyBefore: boolean): string {
  const key = identityOf(table).join(', ');
  const code = anyBefore
    ? `case when (${key}) in (select ${key} from ${existedSql(table, mark)}) then 'u' else 'i' end`
    : "'i'";
  const rows = exportRowsSql(table, tableName(table), { code, isDeleted: false });
  return `${rows} where not svc_is_deleted and svc_updated_at > ${instant(mark)} order by svc_sk`;
}
