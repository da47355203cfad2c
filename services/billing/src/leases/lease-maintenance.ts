// Reclaims expired leases every few seconds and deletes old ones every hour. Every instance runs
// it.
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Part } from '@almanac/service-kit/process/part';
import { periodic } from '@almanac/service-kit/process/periodic';
import type pg from 'pg';
import { deleteOldLeases, listAccountsWithExpiredLeases, reclaimExpiredLeases, renewLeases } from './call-leases.ts';

const deleteEveryMs = 3_600_000;
const accountsPerRun = 500;

type Options = { pool: pg.Pool; logger: Logger; leaseSeconds: number; everyMs?: number };

export function createLeaseMaintenance({ pool, logger, leaseSeconds, everyMs = 5_000 }: Options): Part {
  const sql = pgSql(pool);
  let deletedAt = 0;
  /**
   * After a failure gateways may not have been able to report: renew leases before reclaiming any.
   */
  let isRenewalDue = false;

  const maintain = async () => {
    if (isRenewalDue) await renewLeases(sql, leaseSeconds);
    isRenewalDue = false;
    for (const accountId of await listAccountsWithExpiredLeases(sql, accountsPerRun)) {
      const leases = await reclaimExpiredLeases(sql, accountId);
      if (leases > 0) logger.warn({ account_id: accountId, leases }, 'expired leases of a gateway were reclaimed');
    }
    if (Date.now() - deletedAt > deleteEveryMs) {
      await deleteOldLeases(sql);
      deletedAt = Date.now();
    }
  };
  const rounds = periodic({ name: 'lease maintenance', everyMs, logger, startsWith: 'pause' }, async () => {
    try {
      await maintain();
    } catch (error) {
      isRenewalDue = true;
      throw error;
    }
  });
  return {
    name: rounds.name,
    // Renewed before the RPC server starts, so that no request can reclaim a lease first.
    start: async () => {
      await renewLeases(sql, leaseSeconds);
      await rounds.start();
    },
    stop: () => rounds.stop(),
  };
}
