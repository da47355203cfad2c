// A row that changes, written in one statement with others of the same turn of the event loop, or alone.
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { type Pools, run } from '../postgres/pools.ts';
import { createBatcher, wasRolledBack } from '../rows/batching.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type RowUpdate, shapeOf, updateSql } from './write-sql.ts';

type Updated = { svc_sk: number | string; record: string; svc_version: number };

/**
 * Changes a row through the API's channel; undefined when it is absent or has another version, or the table is no longer what its entry says.
 */
export const updateRow = createBatcher<RowUpdate, Updated | undefined>({
  execute: async (pools, table, updates) => {
    const groups = Map.groupBy(updates, shapeOf);
    const written = new Map([...groups].map(([shape, group]) => [shape, updateFree(pools, table, group)]));
    return updates.map(async (update) => {
      const done = (await written.get(shapeOf(update)))?.get(update);
      return done ?? (await updateRows(pools, table, [update]))[0];
    });
  },
});

// Changes the rows that nobody else is changing. The others, and those that there is something to be said about, are left for statements
// of their own, so that nobody waits for the row of another. So is all but one change of the same row.
async function updateFree(pools: Pools, table: DeployedTable, updates: RowUpdate[]): Promise<Map<RowUpdate, Updated>> {
  const byId = new Map(updates.map((update) => [update.id, update]));
  const [first, ...others] = byId.values();
  if (!first || others.length === 0) return new Map();
  try {
    const rows = await updateRows(pools, table, [first, ...others], false);
    return new Map(rows.map((row) => [byId.get(String(row.svc_sk)) as RowUpdate, row]));
  } catch (error) {
    if (!wasRolledBack(error)) throw error;
    return new Map();
  }
}

function updateRows(
  { rows: pool }: Pools,
  table: DeployedTable,
  updates: readonly [RowUpdate, ...RowUpdate[]],
  waits = true,
): Promise<Updated[]> {
  return retryTransaction(() => run<Updated>(pool, updateSql(table, updates, 'api', waits)));
}
