// The meters of all accounts that call through this gateway, and the timer that maintains them.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { z } from 'zod';
import { AccountMeter, type MeterOptions } from './account-meter.ts';

export type AccountMeters = {
  /** The meter of an account; created when there is none. */
  of(accountId: number): AccountMeter;
  /**
   * Reports the account's calls so far. Waits two seconds at most; what fails is reported later.
   */
  settle(accountId: number): Promise<void>;
  /** The number of meters, for metrics. */
  size(): number;
  start(): Promise<void>;
  /** Reports all counted calls and returns all others. */
  stop(): Promise<void>;
};

const maintainEveryMs = 200;
const evictEveryMs = 60_000;
const idleMeterTtlMs = 600_000;
const settleTimeoutMs = 2_000;
const closeTimeoutMs = 8_000;

export function createAccountMeters(options: MeterOptions & { bus: Bus }): AccountMeters {
  const meters = new Map<number, AccountMeter>();
  let timer: NodeJS.Timeout | undefined;
  let evictedAt = performance.now();

  const maintain = () => {
    const now = performance.now();
    const isEvictionDue = now - evictedAt > evictEveryMs;
    if (isEvictionDue) evictedAt = now;
    for (const meter of meters.values()) {
      const hasLeases = meter.maintain(now);
      if (isEvictionDue && !hasLeases && now - meter.lastUsedAt > idleMeterTtlMs) meters.delete(meter.accountId);
    }
  };

  return {
    of(accountId) {
      let meter = meters.get(accountId);
      if (!meter) {
        meter = new AccountMeter(accountId, options);
        meters.set(accountId, meter);
      }
      return meter;
    },
    async settle(accountId) {
      const meter = meters.get(accountId);
      if (!meter) return;
      const settled = meter.settle().catch(() => {}); // the timer repeats the report
      await Promise.race([settled, timeout(settleTimeoutMs)]);
    },
    size: () => meters.size,
    async start() {
      await options.bus.subscribe(
        { 'billing.account.changed': z.object({ account_id: messageId }) },
        async ({ payload }) => meters.get(payload.account_id)?.invalidate(),
        {
          onConnected: () => {
            for (const meter of meters.values()) meter.invalidate();
          },
        },
      );
      timer = setInterval(maintain, maintainEveryMs);
    },
    async stop() {
      clearInterval(timer);
      const closed = Promise.allSettled([...meters.values()].map((meter) => meter.close()));
      const results = await Promise.race([closed, timeout(closeTimeoutMs)]);
      const failed = results?.filter((result) => result.status === 'rejected').length ?? meters.size;
      if (failed > 0) options.logger.error({ accounts: failed }, 'calls could not be reported before the stop');
      meters.clear();
    },
  };
}

function timeout(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
