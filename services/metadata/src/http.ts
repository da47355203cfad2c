// Metadata over HTTP: the REST resources it owns.
import type { Route } from '@almanac/service-kit/api/route';
import { announceAct } from '@almanac/service-kit/messaging/audit';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { branchCopyRoutes } from './branch-copies/branch-copies.routes.ts';
import { divergenceRoutes } from './branch-divergence/divergence.routes.ts';
import { branchRoutes } from './branches/branches.routes.ts';
import { countOpenByTable } from './changes/change-requests/change-request-operations.ts';
import { changeRequestRoutes } from './changes/change-requests/change-requests.routes.ts';
import { deploymentRoutes } from './changes/deployments/deployments.routes.ts';
import { tableDeploymentRoutes } from './changes/deployments/table-deployment.routes.ts';
import { promotionRoutes } from './changes/promotions/promotions.routes.ts';
import { columnDefinitionRoutes } from './column-definitions/column-definitions.routes.ts';
import type { MetadataContext } from './context.ts';
import { deployedTableDefinitionRoutes } from './deployed-table-definitions/deployed-table-definitions.routes.ts';
import { domainRoutes } from './domains/domains.routes.ts';
import { inboxRoutes } from './inbox/inbox.routes.ts';
import { permissionRoutes } from './permissions/explanation.routes.ts';
import { searchRoutes } from './search/search.routes.ts';
import { tableDefinitionRoutes } from './table-definitions/table-definitions.routes.ts';
import { createStatisticsReader } from './table-statistics/table-statistics.ts';
import { viewRoutes } from './views/views.routes.ts';

export function metadataRoutes(ctx: MetadataContext): Route[] {
  const statistics = createStatisticsReader(ctx, (call, ids) => countOpenByTable(ctx, call, ids));
  return [
    ...domainRoutes(ctx),
    ...branchRoutes(ctx),
    ...branchCopyRoutes(ctx),
    ...divergenceRoutes(ctx),
    ...tableDefinitionRoutes(ctx, statistics),
    ...tableDeploymentRoutes(ctx),
    ...columnDefinitionRoutes(ctx),
    ...deployedTableDefinitionRoutes(ctx, statistics),
    ...deploymentRoutes(ctx),
    ...promotionRoutes(ctx),
    ...changeRequestRoutes(ctx),
    ...inboxRoutes(ctx),
    ...searchRoutes(ctx),
    ...permissionRoutes(ctx),
    ...viewRoutes(ctx),
  ];
}

export function createMetadataHttp(ctx: MetadataContext, runtime: ServiceRuntime): HttpServer {
  return runtime.httpServer({
    routes: metadataRoutes(ctx),
    onRefused: (call, act) => announceAct(prismaSql(ctx.prisma), 'metadata', call, act),
  });
}
