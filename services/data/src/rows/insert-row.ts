// A new row, written together with others that come at the same moment, or alone.
import { retryTransaction } from '@almanac/service-kit/database';
import type { DeployedTable } from '../catalogue/structure.ts';
import type { DataContext } from '../context.ts';
import { run } from '../database.ts';
import { isUndone, together } from './together.ts';
import { insertSql, type NewRow } from './write-sql.ts';

type Inserted = { svc_sk: number | string; record: string; svc_version: number };

const statementsAtOnce = Number.POSITIVE_INFINITY; // one may wait for a key that somebody else is taking

/** Inserts a row of the API's channel; undefined when the table is no longer what its entry says. */
export const insertRow = together<NewRow, Inserted | undefined>(statementsAtOnce, async ({ pools }, table, rows) => {
  try {
    return await insert(pools, table, rows);
  } catch (error) {
    if (rows.length === 1 || !isUndone(error)) throw error;
    // Which of them was refused, or waited too long for somebody else, shows when each is on its own.
    return rows.map(async (row) => (await insert(pools, table, [row]))[0]);
  }
});

function insert({ rows: pool }: DataContext['pools'], table: DeployedTable, rows: NewRow[]): Promise<Inserted[]> {
  return retryTransaction(() => run<Inserted>(pool, insertSql(table, rows, 'api')));
}
