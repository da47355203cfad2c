// How many rows match, counted or worked out from a cached count. Pure.
//
// A count as of a mark (`postgres/high-water-mark.ts`: no older change can appear any more) stays
// true of that instant. The rows that changed since are found by svc_updated_at; each counts by its
// present values instead of those at the mark, which are in its history.

import { historyName, tableName } from '../sql/identifiers.ts';
import { hiddenFromPlanner } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';

/** A count as of a mark. */
export type CountAt = { mark: string; count: number };
/**
 * `known`: work the count out from this one. `isUnchanged`: take it as it is, for the latest
 * statement found no change since its mark. `mark`: also return the difference to the count as of
 * this mark, which is not older than `known`. `rows`: about how many the table has.
 */
export type Counting = { known?: CountAt; isUnchanged?: boolean; mark?: string; rows?: number };

/** With more changes since a mark, counting the rows costs little more. */
export const maxChanges = 2_000;

/** The count of the rows, as `counted(c)` to select from. */
export const plainCountSql = (from: string, where: string): string =>
  `(select count(*) from ${from}${where}) as counted(c)`;

/**
 * A count to select from as `counted(c)`, with its common table expressions and further columns.
 */
export type CountSql = { ctes: string[]; from: string; columns: string };

/**
 * The count, worked out from the known one. Further columns: `c`; `changes` since the older mark (c
 * is wrong when they are more than `maxChanges`, or when there is one despite `isUnchanged`);
 * `since`, the difference to the count as of the new mark. `counted`: how the rows are counted
 * without a known count.
 */
export function countSql(
  table: DeployedTable,
  where: string,
  { known, isUnchanged = false, mark }: Counting,
  bind: Bind,
  counted = plainCountSql(tableName(table), where),
): CountSql {
  const name = tableName(table);
  const oldest = known?.mark ?? mark;
  if (oldest === undefined) return { ctes: [], from: counted, columns: '' };
  // The limit bounds the cost, and tells the planner to use the index.
  const changedSql = (columns: string, max: number) =>
    `select ${columns} from ${name} where svc_updated_at > ${hiddenFromPlanner(bind(oldest, 'timestamptz'))} order by svc_updated_at limit ${max}`;
  // OFFSET keeps the planner from copying the expression to every place that names it.
  const from = (count: string) => `(select ${count} offset 0) as counted(c)`;
  if (known && isUnchanged)
    return {
      ctes: [],
      from: from(bind(known.count, 'bigint')),
      columns: `, c, (select count(*) from (${changedSql('', 1)}) changed) as changes`,
    };
  const differenceSql = (instant: string) => {
    const at = hiddenFromPlanner(bind(instant, 'timestamptz'));
    const version = `select v.* from changed n cross join lateral (select * from ${historyName(table)} h where h.svc_sk = n.svc_sk and h.svc_updated_at <= ${at} and h.svc_valid_to > ${at}) v where n.svc_updated_at > ${at}`;
    return `(select count(*) from (select * from changed where svc_updated_at > ${at}) now${where}) - (select count(*) from (${version}) before${where})`;
  };
  const changed = `changed as materialized (${changedSql('*', maxChanges + 1)})`;
  const since = mark === undefined ? '' : `, ${differenceSql(mark)} as since`;
  return {
    ctes: [changed],
    from: known ? from(`${bind(known.count, 'bigint')} + ${differenceSql(known.mark)}`) : counted,
    columns: `, c, (select count(*) from changed) as changes${since}`,
  };
}
