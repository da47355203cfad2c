// Pages of rows, for the grid and as a list: open the table, plan, write the statement, run it, and
// answer with the body that PostgreSQL wrote, or with one from the cache.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Pools, run } from '../postgres/pools.ts';
import { refuseUnreadable } from '../rows/as-of.ts';
import { type Reading, readsOthers } from '../rows/reading.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { CountCache, Counted } from './count-cache.ts';
import { labelledTables, type PagePlan, type RowSelection } from './filter.ts';
import { type GridRequest, namesLabels, planGrid } from './grid-plan.ts';
import { type ListRequest, planList } from './list-plan.ts';
import type { Body, PageCache } from './page-cache.ts';
import type { PageLimiter } from './page-limiter.ts';
import { gridSql, listSql, matchKey, pageKey } from './page-sql.ts';

/** What pages keep between requests. */
export type PageState = { cache: PageCache; counts: CountCache; limiter: PageLimiter };

/** What reading a page takes. */
export type PageAccess = TableAccess & {
  pools: Pools;
  pages: PageState;
  /** Notes which indexes would serve a page, and plans with those that exist. */
  indexing: {
    note(table: DeployedTable, plan: OrderedRows): void;
    serve(table: DeployedTable, plan: PagePlan): PagePlan;
  };
};

/** `asOf`: an instant in ISO 8601; today's rows without it. */
export type PageRequest = TableRequest & { asOf?: string };

/** A page of the grid, as the body of the answer. */
export function getGrid(
  access: PageAccess,
  call: CallContext,
  request: PageRequest,
  model: GridRequest,
): Promise<Body> {
  const { asOf, includeLookups } = request;
  const named = { ...request, includeTargets: namesLabels(model) };
  return withTable(access, call, named, 'view', (table, targets, through) => {
    const plan = planGrid(table, model, targets);
    const labelled = labelledTables(
      plan.filter,
      plan.sorts.map(({ field }) => field),
    );
    const shown = includeLookups ? targets : undefined;
    return answerRows(access, grid, table, plan, { asOf, targets: shown, labelled, through });
  });
}

/** A page of the list, the same way. */
export function listRecords(
  access: PageAccess,
  call: CallContext,
  request: PageRequest,
  query: ListRequest,
): Promise<Body> {
  return withTable(access, call, request, 'view', (table, targets, through) =>
    answerRows(access, list, table, planList(table, query), { asOf: request.asOf, targets, through }),
  );
}

/** Runs work on a large table in turn with others that read such tables; else at once. */
export async function inTurn<T>(
  { counts, limiter }: Pick<PageState, 'counts' | 'limiter'>,
  table: DeployedTable,
  work: () => Promise<T>,
): Promise<T> {
  const leave = counts.isLarge(table) ? await limiter.enter() : undefined;
  try {
    return await work();
  } finally {
    leave?.();
  }
}

type OrderedRows = RowSelection & Pick<PagePlan, 'sorts'>;

/** A kind of answer about rows. */
export type RowsAnswer<Plan extends OrderedRows> = {
  /** Equal for plans with the same answer. */
  key: (plan: Plan) => string;
  /**
   * The body of the answer; undefined when the table is not what its entry says. `isCounted`:
   * counts of its rows are cached.
   */
  read: (
    access: PageAccess,
    table: DeployedTable,
    plan: Plan,
    reading: Reading,
    isCounted: boolean,
  ) => Promise<string | undefined>;
};

const pageAnswer = (form: string, write: typeof gridSql): RowsAnswer<PagePlan> => ({
  key: (plan) => pageKey(form, plan),
  read: (access, table, plan, reading, isCounted) => readPage(access, write, table, plan, reading, isCounted),
});
const grid = pageAnswer('grid', gridSql);
const list = pageAnswer('list', listSql);

/**
 * The answer, from the cache while nothing has changed, else read; the limiter bounds the reading
 * of large tables.
 */
export async function answerRows<Plan extends OrderedRows>(
  access: PageAccess,
  { key, read }: RowsAnswer<Plan>,
  table: DeployedTable,
  plan: Plan,
  reading: Reading,
): Promise<Body | typeof stale> {
  const { cache, counts, limiter } = access.pages;
  const isLarge = counts.isLarge(table);
  const isPresent = reading.asOf === undefined && reading.through === undefined;
  if (isLarge && isPresent) access.indexing.note(table, plan);
  // What is read from other tables changes with them, too.
  const found = isPresent && !readsOthers(reading) ? await cache.find(table, key(plan)) : undefined;
  if (found?.isOutdated) return stale;
  if (found?.body) return found.body;
  const leave = isLarge ? await limiter.enter() : undefined;
  try {
    const isCounted = isLarge && reading.asOf === undefined && !reading.labelled && !reading.through?.onlyChanged;
    const body = await read(access, table, plan, reading, isCounted);
    if (body === undefined) {
      await refuseUnreadable(access.pools.rows, table, reading);
      return stale;
    }
    if (found?.place) cache.store(found.place, body);
    return body;
  } finally {
    leave?.();
  }
}

// One statement; another one when the count that it was to start from proves wrong. Undefined when
// the table is not what the statement was made for.
async function readPage(
  { pools, pages: { counts }, indexing }: PageAccess,
  write: typeof gridSql,
  table: DeployedTable,
  plan: PagePlan,
  reading: Reading,
  isCounted: boolean,
): Promise<string | undefined> {
  if (!isCounted) return (await run<{ answer: string }>(pools.rows, write(table, plan, reading)))[0]?.answer;
  const served = reading.through ? plan : indexing.serve(table, plan);
  const matches = matchKey(plan);
  for (;;) {
    const counting = counts.plan(table, matches);
    const [row] = await run<{ answer: string } & Counted>(pools.rows, write(table, served, reading, counting));
    if (!row) return undefined;
    // A count that proves wrong is evicted, so the next statement counts the rows.
    if (row.changes === undefined || counts.learn(table, matches, counting, row)) return row.answer;
  }
}
