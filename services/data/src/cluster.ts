// One PostgreSQL cluster with the parts that work on it. An account is on one cluster, and no
// statement spans two.

import { createOutboxRelay, type OutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { Rights } from '@almanac/service-kit/rights/rights';
import { OperationGroups } from './change-requests/operation-groups.ts';
import type { DataConfig } from './config.ts';
import type { DataContext } from './context.ts';
import { RowsAnnouncer } from './events/rows-announcer.ts';
import { Indexing } from './maintenance/automatic-indexes/automatic-indexes.ts';
import { createHousekeeping } from './maintenance/housekeeping.ts';
import { CountCache } from './pages/count-cache.ts';
import { readLastChange } from './pages/last-change.ts';
import { PageCache } from './pages/page-cache.ts';
import { PageLimiter } from './pages/page-limiter.ts';
import { AccountLimiter } from './postgres/account-limiter.ts';
import { closePools, createPools } from './postgres/pools.ts';
import { RecentHighWaterMark } from './postgres/recent-high-water-mark.ts';
import { SqlViews } from './sql-views/sql-views.ts';
import { Catalogue } from './tables/catalogue.ts';
import { TableSizes } from './tables/table-sizes.ts';
import { UsageCounter } from './usage/usage-counter.ts';

export type Cluster = {
  /** The name that operators give it; `main` is that of DATA_DATABASE_URL. */
  name: string;
  /** The parts for the calls of accounts on this cluster. */
  context: DataContext;
  /** The relay of the messages that its database has not announced yet. */
  relay: Pick<OutboxRelay, 'lag'>;
  /** Pings the database. */
  check(): Promise<unknown>;
  start(): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
};

type Options = { name: string; url: string; config: DataConfig; runtime: ServiceRuntime; rights: Rights };

/** Builds the parts of one cluster; nothing connects until `start`. */
export function createCluster({ name, url, config, runtime, rights }: Options): Cluster {
  const { logger, bus } = runtime;
  const pools = createPools(url, config.connections, logger);
  const announcer = new RowsAnnouncer(pools, logger);
  const sizes = new TableSizes(pools.rows);
  const highWaterMark = new RecentHighWaterMark(pools.rows);
  const indexing = new Indexing({ pool: pools.quiet, sizes, logger, rules: { minRows: config.indexFromRows } });
  const relay = createOutboxRelay({ pool: pools.outbox, bus, logger });
  // Counts are no rows: high-water marks need not wait for them.
  const usage = new UsageCounter(pools.outbox, logger);
  const sqlViews = new SqlViews(config.sqlReader);
  const housekeeping = createHousekeeping({ pools, sqlViews, logger }, config.historyDays);
  return {
    name,
    context: {
      pools,
      limiters: {
        work: new AccountLimiter(config.connections.work),
        quiet: new AccountLimiter(config.connections.quiet),
        // Beside the pages of large tables: connections stay free for short requests.
        sets: new AccountLimiter(Math.ceil(config.connections.rows / 2)),
      },
      catalogue: new Catalogue(pools.rows),
      rights,
      announcer,
      indexing,
      pages: {
        cache: new PageCache({ lastChange: (table) => readLastChange(pools, table, undefined), highWaterMark }),
        counts: new CountCache(highWaterMark, sizes),
        limiter: new PageLimiter(config.connections.rows),
      },
      operationGroups: new OperationGroups(pools.rows),
      usage,
      sqlViews,
      logger,
    },
    relay,
    check: () => pgSql(pools.rows)('select 1'),
    async start() {
      relay.start();
      await announcer.start();
      await housekeeping.start();
      usage.start();
      indexing.start();
    },
    async stop() {
      await indexing.stop();
      await usage.stop();
      await housekeeping.stop();
      await announcer.stop();
      await relay.stop();
    },
    close: () => closePools(pools),
  };
}
