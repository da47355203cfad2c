// What the functions of this service are given.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { AccountLimiter } from './account-limiter.ts';
import type { RowsAnnouncer } from './announce/rows-announcer.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Counts } from './counting/counts.ts';
import type { Pools } from './database.ts';
import type { Indexing } from './indexing/indexing.ts';
import type { PageCache } from './rows/page-cache.ts';
import type { PageSlots } from './rows/page-slots.ts';
import type { SqlViews } from './sql-views/sql-views.ts';

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
