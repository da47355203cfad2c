// The HTTP edge of deploying one table at once, on plans without branching.
import { type Route, route } from '@almanac/service-kit/api/route';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';
import type { MetadataContext } from '../../context.ts';
import { idempotencyKeyHeader, idempotent } from '../../requests/idempotency.ts';
import { draftShape, params, query } from '../../table-definitions/table-definition-schema.ts';
import { requireTableDefinition } from '../../table-definitions/table-definitions.ts';
import { deploymentSchema } from './deployment-schema.ts';
import { answerDeployedTable, deployTable } from './table-deployment.ts';

export const tableDeploymentRoutes = (ctx: MetadataContext): Route[] => [
  route({
    tag: 'Table definitions',
    resource: 'table_definition',
    method: 'POST',
    path: '/table_definitions/{id}/deploy',
    summary: 'Deploy a definition at once, on plans without branching',
    description:
      'The same comparison and the same transaction as a deployment, for one table, by machines too. With branching it is 403: use `POST /deployments`.',
    extension: true,
    params,
    query,
    response: z.object({ ...draftShape, deployment: deploymentSchema }),
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, query, body }) => {
      if (call.branching)
        throw new ServiceError('forbidden', {
          code: 'not_allowed',
          message: 'With branching, definitions are deployed by POST /deployments.',
        });
      const deploy = async () => {
        const definition = await requireTableDefinition(ctx, call, params.id, query.branch_id);
        return deployTable(ctx, call, definition, () => void body());
      };
      return idempotent(ctx, call, deploy, (id) => answerDeployedTable(ctx, call, id));
    },
  }),
];
