// Metrics of the parts that services share: pools of database connections, outboxes, the bus.
import type pg from 'pg';
import type { Bus } from '../messaging/bus/bus.ts';
import type { OutboxRelay } from '../messaging/outbox.ts';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Connections by pool. Waiting calls mean that the pool or its database is too small for the load.
 */
export function watchPools(metrics: Metrics, pools: Record<string, pg.Pool>): void {
  const each = (read: (pool: pg.Pool) => number) => () =>
    Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, read(pool)]));
  const gauges = (name: string, help: string, read: (pool: pg.Pool) => number) =>
    metrics.gauges(`almanac_pool_${name}`, help, 'pool', each(read));
  gauges('connections', 'Open database connections.', (pool) => pool.totalCount);
  gauges('idle_connections', 'Idle database connections.', (pool) => pool.idleCount);
  gauges('max_connections', 'Maximum of open database connections.', (pool) => pool.options.max);
  gauges('waiting', 'Calls that wait for a database connection.', (pool) => pool.waitingCount);
}

/** Announcements of all of a service's databases that are not on the bus yet. */
export function watchOutbox(metrics: Metrics, relays: Pick<OutboxRelay, 'lag'>[]): void {
  const lags = () => Promise.all(relays.map((relay) => relay.lag()));
  metrics.gauge('almanac_outbox_waiting', 'Announcements not yet on the bus.', async () =>
    (await lags()).reduce((sum, { waiting }) => sum + waiting, 0),
  );
  metrics.gauge('almanac_outbox_oldest_seconds', 'Age of the oldest announcement not yet on the bus.', async () =>
    Math.max(...(await lags()).map(({ oldestSeconds }) => oldestSeconds)),
  );
}

/** Whether the bus is connected, and its dead letters. */
export function watchBus(metrics: Metrics, bus: Bus): void {
  metrics.gauge('almanac_bus_ready', '1 while the bus is connected.', () => (bus.isReady() ? 1 : 0));
  metrics.gauges('almanac_dead_letters', 'Messages that failed in every attempt.', 'queue', async () =>
    Object.fromEntries(
      await Promise.all(bus.queues().map(async (queue) => [queue, await bus.deadLetters(queue)] as const)),
    ),
  );
}
