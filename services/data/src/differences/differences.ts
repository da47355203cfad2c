// What differs between two sides of a table: open both, plan, write the statement, run it, answer
// with the body that PostgreSQL wrote, or with one from the cache.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Body } from '../pages/page-cache.ts';
import type { PageState } from '../pages/pages.ts';
import { runCancellable } from '../postgres/cancellable.ts';
import type { Pools } from '../postgres/pools.ts';
import { refuseAsOf } from '../rows/as-of.ts';
import { stale, type TableAccess, type TableRequest } from '../tables/open-table.ts';
import { type DifferencePlan, type DifferenceRequest, planDifferences } from './difference-plan.ts';
import { differenceKey, differencesSql } from './difference-sql.ts';
import { type SideRequest, withSides } from './sides.ts';

/** What comparing takes. */
export type CompareAccess = TableAccess & { pools: Pools; pages: PageState };

/** `signal`: aborted when the caller no longer waits. */
export type CompareRequest = TableRequest & { left: SideRequest; right: SideRequest; signal: AbortSignal };

/**
 * A window of the rows that differ, by their key, with the counts of all, as the body of the
 * answer. 400, 422 as `planDifferences`; 503 when it takes too long.
 */
export function getDifferences(
  access: CompareAccess,
  call: CallContext,
  { left, right, signal, ...table }: CompareRequest,
  request: DifferenceRequest,
): Promise<Body> {
  return withSides(access, call, { table, left, right }, async (sides) => {
    const plan = planDifferences(sides, request);
    // The cache knows the last change of one table.
    const { cache } = access.pages;
    const key = differenceKey(plan);
    const found = key === undefined ? undefined : await cache.find(plan.right.table, key);
    if (found?.isOutdated) return stale;
    if (found?.body) return found.body;
    const body = await readDifferences(access, plan, signal);
    if (body === undefined) {
      await refuseSides(access.pools, plan);
      return stale;
    }
    if (found?.place) cache.store(found.place, body);
    return body;
  });
}

async function readDifferences(
  { pools, pages: { counts, limiter } }: CompareAccess,
  plan: DifferencePlan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isLarge = [plan.left, plan.right].some(({ table }) => counts.isLarge(table));
  const leave = isLarge ? await limiter.enter() : undefined;
  try {
    return (await runCancellable<{ answer: string }>(pools, differencesSql(plan), signal))[0]?.answer;
  } finally {
    leave?.();
  }
}

async function refuseSides(pools: Pools, plan: DifferencePlan): Promise<void> {
  for (const name of ['left', 'right'] as const) {
    const side = plan[name];
    if (side.kind === 'rows') await refuseAsOf(pgSql(pools.rows), side.table, side.asOf, `${name}.as_of`);
  }
}
