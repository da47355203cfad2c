// Deletes what is no longer needed: kept answers; results of loads, merges and deployments; retired
// tables and columns, abandoned staged files, old versions of rows. Makes views that are missing.
// Every instance does it; doing it twice does no harm.
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { periodic } from '@almanac/service-kit/process/periodic';
import { sweepAppliedRequests } from '../change-requests/change-requests.ts';
import { sweepDeparted } from '../clusters/account-placement.ts';
import { sweepApplied } from '../deployments/deployment.ts';
import { sweepRetired } from '../deployments/removal.ts';
import { sweepBases } from '../deployments/row-base.ts';
import { sweepLoads } from '../imports/rejected-rows.ts';
import { sweepStaging } from '../imports/staging/staging.ts';
import { sweepRowDecisions } from '../merges/decisions/row-decisions.ts';
import { sweepMerged } from '../merges/merge-result.ts';
import type { Pools } from '../postgres/pools.ts';
import type { SqlViews } from '../sql-views/sql-views.ts';
import { sweepUsage } from '../usage/usage-counter.ts';
import { sweepHistory } from './history-retention.ts';

const everyMs = 10 * 60_000;

/** What a round works with. */
type HousekeepingParts = { pools: Pools; sqlViews: SqlViews; logger: Logger };

/** `historyDays`: how long superseded versions of rows are kept; 0: for ever. */
export const createHousekeeping = (parts: HousekeepingParts, historyDays: number) =>
  periodic({ name: 'housekeeping', everyMs, logger: parts.logger }, () => sweep(parts, historyDays));

/** One round. */
export async function sweep({ pools, sqlViews, logger }: HousekeepingParts, historyDays = 0): Promise<void> {
  await sqlViews.complete(pools.work, logger);
  await sweepStaging(pools.quiet);
  await sweepAnswers(pgSql(pools.work));
  await sweepLoads(pgSql(pools.work));
  await sweepApplied(pgSql(pools.work));
  await sweepMerged(pgSql(pools.work));
  await sweepAppliedRequests(pgSql(pools.work));
  await sweepRetired(pools.work);
  await sweepBases(pgSql(pools.work));
  await sweepRowDecisions(pgSql(pools.work));
  await sweepUsage(pgSql(pools.work));
  await sweepDeparted(pools.work);
  await sweepHistory(pools.work, historyDays);
}
