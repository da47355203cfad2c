// Every route of metadata.
import type { Route } from '@almanac/service-kit/api/route';
import { branchRoutes } from './branches.routes.ts';
import { columnDefinitionRoutes } from './column-definitions/column-definitions.routes.ts';
import type { Context } from './context.ts';
import { deployedTableDefinitionRoutes } from './deployed-table-definitions.routes.ts';
import { deploymentRoutes } from './deployments/deployments.routes.ts';
import { domainRoutes } from './domains.routes.ts';
import { promotionRoutes } from './promotions/promotions.routes.ts';
import { tableDefinitionRoutes } from './table-definitions/table-definitions.routes.ts';

export function routes(ctx: Context): Route[] {
  return [
    ...domainRoutes(ctx),
    ...branchRoutes(ctx),
    ...tableDefinitionRoutes(ctx),
    ...columnDefinitionRoutes(ctx),
    ...deployedTableDefinitionRoutes(ctx),
    ...deploymentRoutes(ctx),
    ...promotionRoutes(ctx),
  ];
}
