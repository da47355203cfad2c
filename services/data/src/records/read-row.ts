// One row by its id.

import { type Pools, run } from '../postgres/pools.ts';
import { createBatcher } from '../rows/batching.ts';
import type { Reading } from '../rows/read-options.ts';
import type { DeployedTable } from '../tables/table.ts';
import { showSql } from './write-sql.ts';

type Row = { svc_sk: number | string; record: string; svc_version: number; svc_is_deleted: boolean };

/** The row, deleted or not, as it is or was; undefined when there is none, or the table is no longer what its entry says. */
export async function readRow(
  pools: Pools,
  table: DeployedTable,
  id: string,
  reading: Reading = {},
): Promise<Row | undefined> {
  if (reading.asOf === undefined && reading.targets === undefined) return readPresent(pools, table, id);
  const [row] = await run<Row>(pools.rows, showSql(table, [id], reading));
  return row;
}

const readPresent = createBatcher<string, Row | undefined>({
  execute: async (pools, table, ids) => {
    const rows = await run<Row>(pools.rows, showSql(table, ids));
    const byId = new Map(rows.map((row) => [String(row.svc_sk), row]));
    return ids.map((id) => byId.get(id));
  },
});
