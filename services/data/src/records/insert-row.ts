// A new row, written in one statement with others of the same turn of the event loop, or alone.
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { type Pools, run } from '../postgres/pools.ts';
import { createBatcher, wasRolledBack } from '../rows/batching.ts';
import type { DeployedTable } from '../tables/table.ts';
import { insertSql, type NewRow } from './write-sql.ts';

type Inserted = { svc_sk: number | string; record: string; svc_version: number };

/** Inserts a row of the API's channel; undefined when the table is no longer what its entry says. */
export const insertRow = createBatcher<NewRow, Inserted | undefined>({
  execute: async (pools, table, rows) => {
    try {
      return await insert(pools, table, rows);
    } catch (error) {
      if (rows.length === 1 || !wasRolledBack(error)) throw error;
      // Alone, each row shows whether it was refused or waited too long for another writer.
      return rows.map(async (row) => (await insert(pools, table, [row]))[0]);
    }
  },
});

function insert({ rows: pool }: Pools, table: DeployedTable, rows: NewRow[]): Promise<Inserted[]> {
  return retryTransaction(() => run<Inserted>(pool, insertSql(table, rows, 'api')));
}
