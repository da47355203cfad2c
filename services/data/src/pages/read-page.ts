// Reads a page: from memory while nothing has changed, else by its statement, with its count worked out from a remembered one where that is
// cheaper.

import type { DataContext } from '../context.ts';
import { run } from '../postgres/pools.ts';
import type { Reading } from '../rows/read-options.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Counted } from './count-cache.ts';
import type { Counting } from './count-sql.ts';
import type { PagePlan } from './filter.ts';
import { orderSql } from './filter-sql.ts';
import type { Body } from './page-cache.ts';
import { whereSql } from './page-sql.ts';

/** How pages of one form are written as statements. */
type Form = { name: 'grid' | 'list'; write: (plan: PagePlan, counting: Counting) => Statement };

/** The answer of a page, written by PostgreSQL; undefined when the table is no longer what the statement was made for. */
export async function readPage(
  ctx: DataContext,
  table: DeployedTable,
  plan: PagePlan,
  { asOf, targets }: Reading,
  { name, write }: Form,
): Promise<Body | undefined> {
  const simply = async () => {
    const [row] = await run<{ answer: string }>(ctx.pools.rows, write(plan, {}));
    return row?.answer;
  };
  const isLarge = ctx.counts.isLarge(table);
  const inTurn = (read: () => Promise<string | undefined>) => (isLarge ? ctx.pageSlots.run(read) : read());
  if (asOf !== undefined) return inTurn(simply);
  if (isLarge) ctx.indexing.note(table, plan);
  const matches = keyOf(plan);
  const readNow = () => inTurn(isLarge ? () => readLarge(ctx, table, plan, matches, write) : simply);
  // With lookups a page changes with other tables, too.
  if (targets) return readNow();
  const key = [name, plan.offset, plan.limit, orderSql(plan), matches].join(' ');
  return ctx.pageCache.find(table, key, readNow);
}

async function readLarge(
  ctx: DataContext,
  table: DeployedTable,
  plan: PagePlan,
  matches: string,
  write: Form['write'],
): Promise<string | undefined> {
  const served = ctx.indexing.serve(table, plan);
  for (;;) {
    const counting = ctx.counts.plan(table, matches);
    const [row] = await run<{ answer: string } & Counted>(ctx.pools.rows, write(served, counting));
    if (!row) return undefined;
    // A count that turns out wrong is forgotten, so the next round counts anew.
    if (row.changes === undefined || ctx.counts.learn(table, matches, counting, row)) return row.answer;
  }
}

// Which rows match.
function keyOf(plan: PagePlan): string {
  const values = new Values();
  return JSON.stringify([whereSql(plan, values.bind), values.list]);
}
