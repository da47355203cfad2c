// The way to a table that every function over rows takes: find it (404), ask for the right (403), run a statement that was made for
// what is deployed, and again when that has changed.
import type { CallContext } from '@almanac/service-kit/call-context';
import { notFound } from '@almanac/service-kit/errors';
import type { Action } from '@almanac/service-kit/rights';
import { stale, type TableReference } from '../catalogue/catalogue.ts';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { adoptTable } from '../deploy/adoption.ts';
import { requireRightOn } from '../row-rights.ts';

/** Runs `work` with the table the caller means, once the caller has the right there. */
export function useTable<T>(
  ctx: DataContext,
  call: CallContext,
  reference: TableReference,
  action: Action,
  work: (table: DeployedTable) => Promise<T | typeof stale>,
): Promise<T> {
  return ctx.catalogue.use(call.accountId, reference, async (table) => {
    await requireRightOn(ctx, call, action, table);
    if (table.history_since === null) {
      await adoptTable(ctx.pools.work, table);
      return stale;
    }
    return work(table);
  });
}

/** No row came back: 404 when there is none; stale when the statement was for another revision. */
export async function absentOrStale(ctx: DataContext, table: DeployedTable): Promise<typeof stale> {
  if (await isCurrent(ctx, table)) throw notFound('Record');
  return stale;
}

/** Whether the table is still deployed as this entry says. */
export async function isCurrent(ctx: DataContext, table: DeployedTable): Promise<boolean> {
  const fresh = await ctx.catalogue.read(table.account_id, { id: table.table_definition_id });
  return fresh?.revision === table.revision;
}
