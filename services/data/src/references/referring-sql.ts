// The statement that counts the records that refer to one. Pure.
import { limits } from '@almanac/service-kit/limits';
import type { Referrer } from '../records/constraint-sql.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type DeployedTable, getColumn } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';

/** The records of one foreign key that refer to the record: `cells` is its key as texts. */
export type Referring = { place: number; count: number; ids: number[]; cells: string[] };

/** The records that are named; a filter shows all. */
const shownIds = 10;

/**
 * One row `Referring` for each of `referrers`, by its place; none when the table has changed, or
 * the record is absent. Records beyond the limit of a count are not counted.
 */
export function referringSql(table: DeployedTable, id: string, referrers: readonly Referrer[]): Statement {
  const values = new Values();
  const { bind } = values;
  const rows = referrers.map(({ from, foreignKey }, i) => {
    const keys = foreignKey.target_columns.map((lineage) => getColumn(table.structure, lineage));
    const equal = keys.map(
      (key, n) => `s.${columnName({ lineage_id: foreignKey.columns[n] as number })} = t.${columnName(key)}`,
    );
    const referring = `from ${tableName(from)} s where s.svc_live and t.svc_live and ${equal.join(' and ')}`;
    const cells = keys.map((key) => typeOf(key).textSql(`t.${columnName(key)}`));
    return (
      `select ${i} as place, (select count(*) from (select ${referring} limit ${limits.countedReferences + 1}) counted) as count,` +
      ` array(select s.svc_sk ${referring} order by s.svc_sk limit ${shownIds}) as ids, array[${cells.join(', ')}]::text[] as cells from t`
    );
  });
  const row = `select * from ${tableName(table)} where svc_sk = ${bind(id, 'bigint')} and ${currentSql(table, bind)}`;
  return {
    text: `with t as materialized (${row}) select * from (${rows.join(' union all ')}) counted order by place`,
    values: values.list,
  };
}
