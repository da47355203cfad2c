// Deletes what is no longer needed: kept answers; results of loads, merges and deployments; retired
// tables and columns, abandoned staged files, old versions of rows. Makes views that are missing.
// Every instance does it; doing it twice does no harm.
import { sweepAnswers } from '@almanac/service-kit/caller/idempotency';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { periodic } from '@almanac/service-kit/process/periodic';
import { runTasks } from '@almanac/service-kit/process/run-tasks';
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

/** One round. A task that fails is logged and runs again in the next round. */
export async function sweep({ pools, sqlViews, logger }: HousekeepingParts, historyDays = 0): Promise<void> {
  const sql = pgSql(pools.work);
  await runTasks(logger, {
    views: () => sqlViews.complete(pools.work, logger),
    staging: () => sweepStaging(pools.quiet),
    answers: () => sweepAnswers(sql),
    loads: () => sweepLoads(sql),
    deployments: () => sweepApplied(sql),
    merges: () => sweepMerged(sql),
    change_requests: () => sweepAppliedRequests(sql),
    retired: () => sweepRetired(pools.work),
    merge_bases: () => sweepBases(sql),
    row_decisions: () => sweepRowDecisions(sql),
    usage: () => sweepUsage(sql),
    departed: () => sweepDeparted(pools.work),
    history: () => sweepHistory(pools.work, historyDays),
  });
}
