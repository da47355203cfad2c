// Runs the statement of a page, with its count worked out from a remembered one where that is cheaper.
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import type { Counted } from '../counting/counts.ts';
import { run } from '../database.ts';
import type { Counting } from '../query/count-sql.ts';
import type { PagePlan } from '../query/filter.ts';
import { whereSql } from '../query/page-sql.ts';
import type { Reading } from '../query/reading.ts';
import { type Statement, Values } from '../query/statement.ts';

/** The answer of a page, written by PostgreSQL; undefined when the table is no longer what the statement was made for. */
export async function readPage(
  ctx: DataContext,
  table: DeployedTable,
  plan: PagePlan,
  { asOf }: Reading,
  write: (plan: PagePlan, counting: Counting) => Statement,
): Promise<string | undefined> {
  const simply = async () => {
    const [row] = await run<{ answer: string }>(ctx.pools.rows, write(plan, {}));
    return row?.answer;
  };
  if (!ctx.counts.isLarge(table)) return simply();
  return ctx.pageSlots.run(() => (asOf === undefined ? readLarge(ctx, table, plan, write) : simply()));
}

async function readLarge(
  ctx: DataContext,
  table: DeployedTable,
  plan: PagePlan,
  write: (plan: PagePlan, counting: Counting) => Statement,
): Promise<string | undefined> {
  ctx.indexing.note(table, plan);
  const served = ctx.indexing.serve(table, plan);
  const key = keyOf(served);
  for (;;) {
    const counting = ctx.counts.plan(table, key);
    const [row] = await run<{ answer: string } & Counted>(ctx.pools.rows, write(served, counting));
    if (!row) return undefined;
    // A count that turns out wrong is forgotten, so the next round counts anew.
    if (row.changes === undefined || ctx.counts.learn(table, key, counting, row)) return row.answer;
  }
}

function keyOf(plan: PagePlan): string {
  const values = new Values();
  return JSON.stringify([whereSql(plan, values.bind), values.list]);
}
