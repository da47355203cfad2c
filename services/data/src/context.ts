// What the functions of this service are given.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { RowsAnnouncer } from './events/rows-announcer.ts';
import type { Indexing } from './maintenance/automatic-indexes/automatic-indexes.ts';
import type { Counts } from './pages/count-cache.ts';
import type { PageCache } from './pages/page-cache.ts';
import type { PageSlots } from './pages/page-concurrency.ts';
import type { AccountLimiter } from './postgres/account-limiter.ts';
import type { Pools } from './postgres/pools.ts';
import type { SqlViews } from './sql-views/sql-views.ts';
import type { Catalogue } from './tables/catalogue.ts';

export type DataContext = {
  pools: Pools;
  /** What long work takes of two of the pools, so that no account takes all of it. */
  limiters: { work: AccountLimiter; quiet: AccountLimiter };
  catalogue: Catalogue;
  rights: Rights;
  announcer: RowsAnnouncer;
  counts: Counts;
  indexing: Indexing;
  pageSlots: PageSlots;
  pageCache: PageCache;
  sqlViews: SqlViews;
  logger: Logger;
};
