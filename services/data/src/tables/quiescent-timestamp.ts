// An instant as of which tables will never read differently again: everybody who was writing has committed, and whoever writes next
// does so at a later time. What a base is made of.
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@almanac/service-kit/errors';
import { withTransaction } from '@almanac/service-kit/postgres/database';
import { isLockTimeout, isMissingTable } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { tableName } from '../sql/identifiers.ts';
import { notDeployed } from './catalogue.ts';
import type { DeployedTable } from './table.ts';

const patienceMs = 60_000;

/**
 * Waits, for moments at a time, until nobody writes to any of the tables, and answers that instant in ISO 8601. Writers wait no
 * longer than these moments. 503 when somebody writes all the time.
 */
export async function settledInstant(pool: pg.Pool, tables: DeployedTable[]): Promise<string> {
  const names = tables.toSorted((a, b) => a.lineage_id - b.lineage_id || a.branch_id - b.branch_id).map(tableName);
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await withTransaction(pool, async (sql) => {
        await sql("select set_config('lock_timeout', '300ms', true)");
        await sql(`lock table ${names.join(', ')} in share mode`);
        // After every time that rows have by now; and its own millisecond must be over before writers go on.
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
