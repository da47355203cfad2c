// Vacuums tables right after a load has written much of them. Until a table is vacuumed, an index
// tells neither which rows are visible nor, to the planner, how they lie: pages and counts fetch
// rows that they only count. Autovacuum would do it within minutes.

import { pgSql } from '@almanac/service-kit/postgres/database';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import { cancelWhenBlocking } from '../postgres/cancel-when-blocking.ts';
import { tableName } from '../sql/identifiers.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Worker } from './pending-constraints.ts';

// Smaller loads, and smaller shares of a table, cost pages little.
const minRows = 10_000;
const minShare = 0.1;

export class LoadedTables {
  private readonly names = new Set<string>();

  /** False when the load is too small to matter. `size`: about how many rows the table had. */
  add(table: DeployedTable, rows: number, size: number): boolean {
    if (rows < Math.max(minRows, size * minShare)) return false;
    this.names.add(tableName(table));
    return true;
  }

  /**
   * Vacuums each table once, on the client's session. What is cancelled, because another session
   * needs the table, is left to autovacuum.
   */
  async vacuum({ pool, client, signal, logger }: Worker): Promise<void> {
    for (const name of this.names) {
      this.names.delete(name);
      if (signal.aborted) return;
      try {
        await cancelWhenBlocking(pool, client, name, signal, () => pgSql(client)(`vacuum (analyze) ${name}`));
      } catch (error) {
        const state = findSqlState(error);
        if (state === undefined) throw error;
        logger.info({ table: name, state }, 'a loaded table was not vacuumed; autovacuum will do it');
      }
    }
  }
}
