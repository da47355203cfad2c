// The way to a table that every function over rows takes: find it (404), ask for the right (403), run a statement that was made for
// what is deployed, and again when that has changed.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import type { Action } from '@almanac/service-kit/rights/rights';
import type { DataContext } from '../context.ts';
import { stale, type TableReference } from './catalogue.ts';
import { withExactNumbers } from './exact-numbers.ts';
import type { DeployedTable } from './table.ts';
import { requireRightOn } from './table-rights.ts';

/** The table that a request is about, and how its records are to show decimals and bigints. */
export type TableRequest = TableReference & { exactNumbers?: boolean };

type Work<T> = (table: DeployedTable, others: ReadonlyMap<number, DeployedTable>) => Promise<T | typeof stale>;

/** Runs `work` with the table the caller means, once the caller has the right there; and with the `others` it asks for by id. */
export function useTable<T>(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  action: Action,
  work: Work<T>,
  othersOf?: (table: DeployedTable) => number[],
): Promise<T> {
  const begin: Work<T> = async (table, others) => {
    await requireRightOn(ctx, call, action, table);
    return reference.exactNumbers ? work(...exactly(table, others)) : work(table, others);
  };
  return ctx.catalogue.use(call.accountId, reference, begin, othersOf);
}

const exactly: (...tables: Parameters<Work<unknown>>) => Parameters<Work<unknown>> = (table, others) => [
  withExactNumbers(table),
  new Map([...others].map(([id, other]) => [id, withExactNumbers(other)])),
];

/** No row came back: 404 when there is none; stale when the statement was for another revision of one of these tables. */
export async function absentOrStale(ctx: DataContext, ...tables: DeployedTable[]): Promise<typeof stale> {
  for (const table of tables) if (!(await isCurrent(ctx, table))) return stale;
  throw notFound('Record');
}

/** Whether the table is still deployed as this entry says. */
export async function isCurrent(ctx: DataContext, table: DeployedTable): Promise<boolean> {
  const fresh = await ctx.catalogue.read(table.account_id, { id: table.table_definition_id });
  return fresh?.revision === table.revision;
}
