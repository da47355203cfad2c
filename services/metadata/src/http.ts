// Every route of metadata.
import type { Route } from '@almanac/service-kit/api/route';
import { branchRoutes } from './branches/branches.routes.ts';
import { deploymentRoutes } from './changes/deployments/deployments.routes.ts';
import { tableDeploymentRoutes } from './changes/deployments/table-deployment.routes.ts';
import { promotionRoutes } from './changes/promotions/promotions.routes.ts';
import { columnDefinitionRoutes } from './column-definitions/column-definitions.routes.ts';
import type { MetadataContext } from './context.ts';
import { deployedTableDefinitionRoutes } from './deployed-table-definitions/deployed-table-definitions.routes.ts';
import { domainRoutes } from './domains/domains.routes.ts';
import { tableDefinitionRoutes } from './table-definitions/table-definitions.routes.ts';

export function routes(ctx: MetadataContext): Route[] {
  return [
    ...domainRoutes(ctx),
    ...branchRoutes(ctx),
    ...tableDefinitionRoutes(ctx),
    ...tableDeploymentRoutes(ctx),
    ...columnDefinitionRoutes(ctx),
    ...deployedTableDefinitionRoutes(ctx),
    ...deploymentRoutes(ctx),
    ...promotionRoutes(ctx),
  ];
}
