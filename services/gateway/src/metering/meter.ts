// The meters of all accounts that call through this gateway, and the clock that makes them report.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { z } from 'zod';
import { AccountMeter, type MeterOptions } from './account-meter.ts';

export type Meter = {
  /** The meter of an account. */
  of(accountId: number): AccountMeter;
  /** Books what this account was served so far; waits a moment at most, what could not be booked is reported later. */
  settle(accountId: number): Promise<void>;
  /** For metrics. */
  accounts(): number;
  start(): Promise<void>;
  /** Books everything and gives everything back. */
  stop(): Promise<void>;
};

const tickMs = 200;
const forgottenAfterMs = 600_000;
const settleWithinMs = 2_000;
const closeWithinMs = 8_000;

export function createMeter(options: MeterOptions & { bus: Bus }): Meter {
  const meters = new Map<number, AccountMeter>();
  let timer: NodeJS.Timeout | undefined;
  let sweptAt = performance.now();

  const tick = () => {
    const now = performance.now();
    const sweep = now - sweptAt > 60_000;
    if (sweep) sweptAt = now;
    for (const meter of meters.values()) {
      const busy = meter.tick(now);
      if (sweep && !busy && now - meter.lastUsedAt > forgottenAfterMs) meters.delete(meter.accountId);
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
      const settled = meter.settle().catch(() => {}); // reported again by the clock
      await Promise.race([settled, timeout(settleWithinMs)]);
    },
    accounts: () => meters.size,
    async start() {
      await options.bus.subscribe(
        { 'billing.account.changed': z.object({ account_id: messageId }) },
        async ({ payload }) => meters.get(payload.account_id)?.forget(),
        {
          onConnected: () => {
            for (const meter of meters.values()) meter.forget();
          },
        },
      );
      timer = setInterval(tick, tickMs);
    },
    async stop() {
      clearInterval(timer);
      const closed = Promise.allSettled([...meters.values()].map((meter) => meter.close()));
      const results = await Promise.race([closed, timeout(closeWithinMs)]);
      const failed = results?.filter((result) => result.status === 'rejected').length ?? meters.size;
      if (failed > 0) options.logger.error({ accounts: failed }, 'calls of accounts could not be booked at the end');
      meters.clear();
    },
  };
}

function timeout(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
