// The time of the last change of a table, read once for all pages that need it in one turn of the
// event loop.

import { run } from '../postgres/pools.ts';
import { createBatcher } from '../rows/batching.ts';
import { tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';

/**
 * The latest `svc_updated_at`, in milliseconds since 1970 by the database's clock; 0 in an empty
 * table. Undefined when the table is not what its entry says. The result is never older than the
 * call, so a later call waits for the next query.
 */
export const readLastChange = createBatcher<undefined, number | undefined>({
  execute: async (pools, table, calls) => {
    const [change] = await run<{ at: number }>(pools.rows, lastChangeSql(table));
    return calls.map(() => change?.at);
  },
});

// The end of the index of svc_updated_at, which every table has.
function lastChangeSql(table: DeployedTable): Statement {
  const values = new Values();
  const latest = `(select max(svc_updated_at) from ${tableName(table)})`;
  return {
    text: `select coalesce((extract(epoch from ${latest}) * 1000)::float8, 0) as at where ${currentSql(table, values.bind)}`,
    values: values.list,
  };
}
