// Takes back, every few seconds, what silent gateways hold, and forgets leases that ended long ago. Every instance runs one.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Part } from '@almanac/service-kit/process/service-runtime';
import type pg from 'pg';

import { forgetOldLeases, listAccountsWithExpired, renewLeases, takeBackExpired } from './call-leases.ts';

const everyMs = 5_000;
const forgetEveryMs = 3_600_000;
const accountsAtOnce = 500;

type Options = { pool: pg.Pool; logger: Logger; leaseSeconds: number; everyMs?: number };

export function createSweeper(options: Options): Part {
  const sql = pgSql(options.pool);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let forgottenAt = 0;
  let wasAway = false;

  const sweep = async () => {
    try {
      if (wasAway) await renewLeases(sql, options.leaseSeconds);
      wasAway = false;
      for (const accountId of await listAccountsWithExpired(sql, accountsAtOnce)) {
        const leases = await takeBackExpired(sql, accountId);
        if (leases > 0) options.logger.warn({ account_id: accountId, leases }, 'leases of a silent gateway taken back');
      }
      if (Date.now() - forgottenAt > forgetEveryMs) {
        await forgetOldLeases(sql);
        forgottenAt = Date.now();
      }
    } catch (error) {
      wasAway = true;
      options.logger.warn({ err: error }, 'leases could not be swept; it will be tried again');
    }
  };
  const loop = () => {
    running = sweep().finally(() => {
      if (timer) timer = setTimeout(loop, options.everyMs ?? everyMs);
    });
  };
  return {
    name: 'sweeper',
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
