// Data over HTTP: rows, and the operations of change requests on them.

import type { Route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { announceAct } from '@almanac/service-kit/messaging/audit';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { changeRequestRoutes } from './api/change-requests/change-requests.routes.ts';
import { rehearsalRoutes } from './api/change-requests/rehearsal.routes.ts';
import { changesRoutes } from './api/changes.routes.ts';
import { differenceRoutes } from './api/differences.routes.ts';
import { readingRowsRoutes } from './api/reading-rows.routes.ts';
import { referenceRoutes } from './api/references.routes.ts';
import { rowHistoryRoutes } from './api/row-history.routes.ts';
import { rowSetRoutes } from './api/row-sets.routes.ts';
import { searchRoutes } from './api/search.routes.ts';
import { tableDataRoutes } from './api/table-data.routes.ts';
import { usageRoutes } from './api/usage.routes.ts';
import { openReading } from './change-requests/visibility.ts';
import type { Clusters } from './clusters/clusters.ts';
import type { DataContext } from './context.ts';
import { openDryRun } from './imports/dry-run-changes.ts';

/** The routes over one cluster. */
export function dataRoutes(ctx: DataContext): Route[] {
  const openers = {
    openReading: (call: CallContext, id: number) => openReading(ctx, call, id),
    openDryRun: (call: CallContext, importTableId: number) => openDryRun(ctx, call, { importTableId }),
  };
  return [
    ...tableDataRoutes(ctx, openers),
    ...rowHistoryRoutes(ctx),
    ...readingRowsRoutes(ctx),
    ...rowSetRoutes(ctx),
    ...referenceRoutes(ctx),
    ...searchRoutes(ctx),
    ...differenceRoutes(ctx, openers),
    ...changesRoutes(ctx),
    ...usageRoutes(ctx),
    ...changeRequestRoutes(ctx),
    ...rehearsalRoutes(ctx),
  ];
}

/** Serves each call on the cluster of its account. */
export function createDataHttp(clusters: Clusters, runtime: ServiceRuntime): HttpServer {
  return runtime.httpServer({
    routes: routesOf(clusters),
    onRefused: (call, act) => announceAct(pgSql(clusters.home.context.pools.outbox), 'data', call, act),
  });
}

// The same routes for each cluster; a call goes to those of its account's cluster.
function routesOf(clusters: Clusters): Route[] {
  const home = dataRoutes(clusters.home.context);
  if (clusters.all.length === 1) return home;
  const routes = new Map(clusters.all.map((cluster) => [cluster, dataRoutes(cluster.context)]));
  return home.map((declared, i) => ({
    ...declared,
    handle: (input) =>
      clusters.run(input.call.accountId, (cluster) => {
        const own = routes.get(cluster) as Route[];
        return (own[i] as Route).handle(input);
      }),
  }));
}
