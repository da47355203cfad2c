// Deploying one definition at once, on plans without branching: the same path as a deployment, which is made for it and kept.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import { placeOf } from '../../rights/place.ts';
import { requireTableDefinition, type TableDefinition } from '../../table-definitions/table-definitions.ts';
import type { Actor } from '../approval-states.ts';
import { answerOwnDeployment, begin, beginAndApply, requireSuccess } from './deployment-apply.ts';
import type { Deployment } from './deployment-schema.ts';
import { getDeployment, insertDeployment } from './deployments.ts';
import { requireViewOfFirstRows } from './first-rows.ts';

// Without branching nobody approves: whoever may develop may deploy, also on the protected `main`.
const deployer: Actor = { system: false, creator: true, developer: true, approver: false, administrator: true };

export type DeployedTable = TableDefinition & { deployment: Deployment };

/** Deploys one definition and answers it with its deployment; what stands in the way is 422. */
export async function deployTable(
  ctx: MetadataContext,
  call: CallContext,
  definition: TableDefinition,
  readBody: () => void,
): Promise<DeployedTable> {
  await requireRight(ctx.rights, call, 'develop', placeOf(definition), { fresh: true });
  await requireViewOfFirstRows(ctx, call, [definition.id]);
  readBody();
  const id = await beginAndApply(ctx, call, async (tx) => {
    const made = await insertDeployment(tx, call, definition.branch_id, [definition]);
    return begin(tx, ctx, call, made, deployer);
  });
  const deployment = await getDeployment(ctx, call, id);
  requireSuccess(id, deployment.status, deployment.error);
  return { ...(await requireTableDefinition(ctx, call, String(definition.id))), deployment };
}

/** Answers how the deployment ended that this very call has made. */
export async function answerDeployedTable(ctx: MetadataContext, call: CallContext, id: number): Promise<DeployedTable> {
  const deployment = await answerOwnDeployment(ctx, call, id);
  const [table] = deployment.table_definitions;
  return { ...(await requireTableDefinition(ctx, call, String(table?.id))), deployment };
}
