// A timestamp as of which tables will always read the same: all writers have committed, and the
// next one writes at a later time. Merge bases are such timestamps.
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@almanac/service-kit/errors';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockTimeout, isMissingTable } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { tableName } from '../sql/identifiers.ts';
import { notDeployed } from './catalogue.ts';
import type { DeployedTable } from './table.ts';

const maxWaitMs = 60_000;

/**
 * Waits until no session writes to any of the tables, for short moments so that writers wait no
 * longer than these, and answers the timestamp in ISO 8601. 503 when there are always writers.
 */
export async function quiescentTimestamp(pool: pg.Pool, tables: DeployedTable[]): Promise<string> {
  const names = tables.toSorted((a, b) => a.lineage_id - b.lineage_id || a.branch_id - b.branch_id).map(tableName);
  const deadline = Date.now() + maxWaitMs;
  for (;;) {
    try {
      return await withTransaction(pool, async (sql) => {
        await sql("select set_config('lock_timeout', '300ms', true)");
        await sql(`lock table ${names.join(', ')} in share mode`);
        // Later than every time in the rows; its own millisecond must be over before writers go on.
        const { rows } = await sql(
          `with clock as materialized (select date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' as at)
           select to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, pg_sleep(0.003) from clock`,
        );
        return rows[0]?.at as string;
      });
    } catch (error) {
      if (isMissingTable(error)) throw notDeployed();
      if (!isLockTimeout(error)) throw error;
      if (Date.now() >= deadline)
        throw new ServiceError('unavailable', 'The rows are being written all the time; try again later.');
      await sleep(100 + Math.random() * 200);
    }
  }
}
