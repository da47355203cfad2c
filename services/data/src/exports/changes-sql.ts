// What changed in a table after a mark, net and in order, for who keeps a copy of it: one row of the answer for each primary key. First
// the keys that are gone, then what is there now (docs/how-to/keep-a-copy.md). Pure.
//
// A copy may be a little younger than its mark says. So every key that a changed row has had since then counts: one that came and
// went again is told as gone, which changes nothing where it never was.

import { columnName, historyName, tableName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import { type DeployedTable, keyColumns } from '../tables/table.ts';
import { exportRowsSql } from './export-sql.ts';

/** What tells rows apart: their key, or else they themselves. */
function identityOf({ structure }: DeployedTable): string[] {
  const key = keyColumns(structure).map(columnName);
  return key.length === 0 ? ['svc_sk'] : key;
}

const instant = (mark: string) => `${quoteLiteral(mark)}::timestamptz`;

// Versions with a key that ended after the mark: their rows were changed since, or deleted. A column may be younger than a version.
const endedSql = (table: DeployedTable, mark: string) =>
  `${historyName(table)} h where svc_valid_to > ${instant(mark)} and not svc_is_deleted` +
  ` and (${identityOf(table).join(', ')}) is not null`;

// Of those, what was there at the mark itself.
const thereBeforeSql = (table: DeployedTable, mark: string) =>
  `${endedSql(table, mark)} and svc_updated_at <= ${instant(mark)}`;

/** Whether any of the rows that changed was there at the mark: one row `found`. */
export const findBeforeSql = (table: DeployedTable, mark: string): string =>
  `select exists (select from ${thereBeforeSql(table, mark)}) as found`;

/** The keys that are gone, with the values that their last rows had and when they went. */
export function goneSql(table: DeployedTable, mark: string): string {
  const key = identityOf(table);
  const equal = key.map((column) => `t.${column} = h.${column}`).join(' and ');
  const columns = table.structure.columns.map(columnName);
  const last =
    `(select distinct on (${key.join(', ')}) svc_sk, svc_created_at, svc_valid_to as svc_updated_at` +
    `${columns.map((column) => `, ${column}`).join('')} from ${endedSql(table, mark)}` +
    ` and not exists (select from ${tableName(table)} t where t.svc_live and ${equal})` +
    ` order by ${key.join(', ')}, svc_valid_to desc, svc_sk desc) gone`;
  return `${exportRowsSql(table, last, { code: "'d'", isDeleted: true })} order by svc_sk`;
}

/**
 * The live rows that changed: `u` where their key was there at the mark, else `i`. `anyBefore`: what `findBeforeSql` said; without any
 * there is nothing to look up.
 */
export function presentSql(table: DeployedTable, mark: string, anyBefore: boolean): string {
  const key = identityOf(table).join(', ');
  const code = anyBefore
    ? `case when (${key}) in (select ${key} from ${thereBeforeSql(table, mark)}) then 'u' else 'i' end`
    : "'i'";
  const rows = exportRowsSql(table, tableName(table), { code, isDeleted: false });
  return `${rows} where not svc_is_deleted and svc_updated_at > ${instant(mark)} order by svc_sk`;
}
