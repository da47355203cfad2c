// How many rows match, counted or worked out from a count that is remembered. Pure.
//
// A count as of a mark (`postgres/high-water-mark.ts`: nothing older can appear any more) stays true of that instant. What has changed since then
// is found by svc_updated_at; a changed row counts as it is now instead of as it was, which its history knows.

import { historyName, tableName } from '../sql/identifiers.ts';
import { unseen } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';

/** A count as of a mark. */
export type CountAt = { mark: string; count: number };
/**
 * `known`: work the count out from this one. `isUnchanged`: take it as it is, for lately nothing had changed since its mark. `mark`: also
 * tell by how much it differs from the one as of this mark, not older than `known`. `rows`: about how many the table has.
 */
export type Counting = { known?: CountAt; isUnchanged?: boolean; mark?: string; rows?: number };

/** Beyond so many changes since a mark, counting anew is not much dearer. */
export const changesMaximum = 2_000;

/** The count of what is there, as `counted(c)` to select from. */
export const plainCountSql = (from: string, where: string): string =>
  `(select count(*) from ${from}${where}) as counted(c)`;

/** A count to select from as `counted(c)`, with the common table expressions it takes and what is answered besides. */
export type CountSql = { ctes: string[]; from: string; columns: string };

/**
 * The count by way of what is remembered. Answered besides: `c`; `changes` since the older mark (c is wrong when they are more than
 * `changesMaximum`, or when there is one after `isUnchanged`); `since`, the difference to the count as of the new mark. `counted`: how it is
 * counted when nothing is known.
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
  // The limit keeps this from costing more than it saves, and tells the planner to go by the index.
  const changedSql = (columns: string, most: number) =>
    `select ${columns} from ${name} where svc_updated_at > ${unseen(bind(oldest, 'timestamptz'))} order by svc_updated_at limit ${most}`;
  // OFFSET keeps the planner from working the expression out at every place that names it.
  const from = (count: string) => `(select ${count} offset 0) as counted(c)`;
  if (known && isUnchanged)
    return {
      ctes: [],
      from: from(bind(known.count, 'bigint')),
      columns: `, c, (select count(*) from (${changedSql('', 1)}) changed) as changes`,
    };
  const differenceTo = (instant: string) => {
    const at = unseen(bind(instant, 'timestamptz'));
    const version = `select v.* from changed n cross join lateral (select * from ${historyName(table)} h where h.svc_sk = n.svc_sk and h.svc_updated_at <= ${at} and h.svc_valid_to > ${at}) v where n.svc_updated_at > ${at}`;
    return `(select count(*) from (select * from changed where svc_updated_at > ${at}) now${where}) - (select count(*) from (${version}) before${where})`;
  };
  const changed = `changed as materialized (${changedSql('*', changesMaximum + 1)})`;
  const since = mark === undefined ? '' : `, ${differenceTo(mark)} as since`;
  return {
    ctes: [changed],
    from: known ? from(`${bind(known.count, 'bigint')} + ${differenceTo(known.mark)}`) : counted,
    columns: `, c, (select count(*) from changed) as changes${since}`,
  };
}
