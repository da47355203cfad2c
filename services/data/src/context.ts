// The parts of one cluster, which http.ts and rpc.ts pass on. Functions below take the parts that
// they use.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { OperationGroups } from './change-requests/operation-groups.ts';
import type { RowsAnnouncer } from './events/rows-announcer.ts';
import type { Indexing } from './maintenance/automatic-indexes/automatic-indexes.ts';
import type { PageState } from './pages/pages.ts';
import type { AccountLimiter } from './postgres/account-limiter.ts';
import type { Pools } from './postgres/pools.ts';
import type { SqlViews } from './sql-views/sql-views.ts';
import type { Catalogue } from './tables/catalogue.ts';
import type { UsageCounter } from './usage/usage-counter.ts';

export type DataContext = {
  pools: Pools;
  /**
   * They bound the long work on two of the pools, and the writes of sets on `rows`, so that no
   * account takes all of it.
   */
  limiters: { work: AccountLimiter; quiet: AccountLimiter; sets: AccountLimiter };
  catalogue: Catalogue;
  rights: Rights;
  announcer: RowsAnnouncer;
  indexing: Indexing;
  pages: PageState;
  operationGroups: OperationGroups;
  usage: UsageCounter;
  sqlViews: SqlViews;
  logger: Logger;
};
