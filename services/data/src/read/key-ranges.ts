// Cuts what is to be read of a table into ranges of its key, so that two connections can read side by side and the rows still come in
// the key's order.
import type { Sql } from '@almanac/service-kit/database';

/** Keys from `from` on and below `to`; without one there is no end on that side. */
export type KeyRange = { from?: bigint; to?: bigint };

/** What PostgreSQL knows without looking at rows: the first and the last key, what it expects to read, and how many rows there are. */
export type Expected = { first: bigint; last: bigint; rows: number; rowBytes: number; tableRows: number };

/** Text of one range: less than a statement may have ready (`copy-out.ts`), and much more than a statement costs. */
const rangeBytes = 3 * 1024 * 1024;
const mostRanges = 10_000;

/**
 * The ranges, which together are everything. One, when there is little to read: of a table of which only a part is asked for, each range
 * might have to look for it anew.
 */
export function cutByKey({ first, last, rows, rowBytes, tableRows }: Expected): KeyRange[] {
  const wanted = Math.min(Math.ceil((rows * rowBytes) / rangeBytes), mostRanges);
  if (!(wanted > 1) || rows * 2 < tableRows) return [{}];
  const width = (last - first) / BigInt(wanted) + 1n;
  const bounds: bigint[] = [];
  for (let bound = first + width; bound <= last; bound += width) bounds.push(bound);
  return [...bounds, undefined].map((to, i) => ({ from: bounds[i - 1], to }));
}

/** Asks PostgreSQL what reading would give. `table` is its name as an identifier, `select` what is to be read. */
export async function expected(sql: Sql, table: string, select: string): Promise<Expected> {
  const known = await sql(
    `select coalesce((select min(svc_sk) from ${table}), 0)::text as first, coalesce((select max(svc_sk) from ${table}), 0)::text as last,
       (select reltuples from pg_class where oid = $1::regclass) as rows`,
    [table],
  );
  const { first, last, rows: tableRows } = known.rows[0] as { first: string; last: string; rows: number };
  const plan = (await sql(`explain (format json) ${select}`)).rows[0]?.['QUERY PLAN'] as [
    { Plan: Record<string, number> },
  ];
  const { 'Plan Rows': rows = 0, 'Plan Width': rowBytes = 0 } = plan[0].Plan;
  return { first: BigInt(first), last: BigInt(last), rows, rowBytes, tableRows };
}
