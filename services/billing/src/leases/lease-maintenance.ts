// Reclaims expired leases every few seconds and deletes old ones every hour. Every instance runs
// it.
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Part } from '@almanac/service-kit/process/service-runtime';
import type pg from 'pg';
import { deleteOldLeases, listAccountsWithExpiredLeases, reclaimExpiredLeases, renewLeases } from './call-leases.ts';

const everyMs = 5_000;
const deleteEveryMs = 3_600_000;
const accountsPerRun = 500;

type Options = { pool: pg.Pool; logger: Logger; leaseSeconds: number; everyMs?: number };

export function createLeaseMaintenance(options: Options): Part {
  const sql = pgSql(options.pool);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let deletedAt = 0;
  let hasFailed = false;

  const maintain = async () => {
    try {
      if (hasFailed) await renewLeases(sql, options.leaseSeconds);
      hasFailed = false;
      for (const accountId of await listAccountsWithExpiredLeases(sql, accountsPerRun)) {
        const leases = await reclaimExpiredLeases(sql, accountId);
        if (leases > 0)
          options.logger.warn({ account_id: accountId, leases }, 'expired leases of a gateway were reclaimed');
      }
      if (Date.now() - deletedAt > deleteEveryMs) {
        await deleteOldLeases(sql);
        deletedAt = Date.now();
      }
    } catch (error) {
      hasFailed = true;
      options.logger.warn({ err: error }, 'the maintenance of leases failed; it will be repeated');
    }
  };
  const loop = () => {
    running = maintain().finally(() => {
      if (timer) timer = setTimeout(loop, options.everyMs ?? everyMs);
    });
  };
  return {
    name: 'lease maintenance',
    start: async () => {
      await renewLeases(sql, options.leaseSeconds);
      timer = setTimeout(loop, options.everyMs ?? everyMs);
    },
    stop: async () => {
      clearTimeout(timer);
      timer = undefined;
      await running;
    },
  };
}
