// Metrics of the parts that services have in common: pools of database connections, outboxes, the bus.
import type pg from 'pg';
import type { Bus } from '../messaging/bus/bus.ts';
import type { OutboxRelay } from '../messaging/outbox.ts';
import type { Metrics } from '../observability/metrics.ts';

/** Connections by pool. Calls that wait for one mean that the pool, or the database behind it, is too small for the load. */
export function watchPools(metrics: Metrics, pools: Record<string, pg.Pool>): void {
  const each = (read: (pool: pg.Pool) => number) => () =>
    Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, read(pool)]));
  const gauges = (name: string, help: string, read: (pool: pg.Pool) => number) =>
    metrics.gauges(`almanac_pool_${name}`, help, 'pool', each(read));
  gauges('connections', 'Open database connections.', (pool) => pool.totalCount);
  gauges('idle_connections', 'Open database connections that nobody uses.', (pool) => pool.idleCount);
  gauges('max_connections', 'How many database connections may be open.', (pool) => pool.options.max);
  gauges('waiting', 'Calls that wait for a database connection.', (pool) => pool.waitingCount);
}

/** What is not yet on the bus, of all of a service's databases. */
export function watchOutbox(metrics: Metrics, relays: Pick<OutboxRelay, 'lag'>[]): void {
  const lags = () => Promise.all(relays.map((relay) => relay.lag()));
  metrics.gauge('almanac_outbox_waiting', 'Announcements not yet on the bus.', async () =>
    (await lags()).reduce((sum, { waiting }) => sum + waiting, 0),
  );
  metrics.gauge('almanac_outbox_oldest_seconds', 'Age of the oldest announcement not yet on the bus.', async () =>
    Math.max(...(await lags()).map(({ oldestSeconds }) => oldestSeconds)),
  );
}

/** Whether the bus can be reached, and the messages that were given up. */
export function watchBus(metrics: Metrics, bus: Bus): void {
  metrics.gauge('almanac_bus_ready', '1 while the bus can be reached.', () => (bus.isReady() ? 1 : 0));
  metrics.gauges('almanac_dead_letters', 'Messages that nobody could handle.', 'queue', async () =>
    Object.fromEntries(
      await Promise.all(bus.queues().map(async (queue) => [queue, await bus.deadLetters(queue)] as const)),
    ),
  );
}
