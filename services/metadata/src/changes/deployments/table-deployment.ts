// Deploying one definition at once, on plans without branching. It makes a deployment, which goes
// the same way as any other and is kept.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import { placeOf } from '../../rights/place.ts';
import { requireTableDefinition, type TableDefinition } from '../../table-definitions/table-definitions.ts';
import type { Actor } from '../approval-states.ts';
import { requireSuccess } from '../refusal.ts';
import { answerDeployed, begin, beginAndApply } from './deployment-apply.ts';
import { insertDeployment } from './deployment-proposal.ts';
import type { Deployment } from './deployment-schema.ts';
import { deploymentMachine } from './deployment-states.ts';
import { getDeployment } from './deployments.ts';
import { requireViewOfFirstRows } from './first-rows.ts';

// Plans without branching have no approvals: `develop` is enough, even on the protected `main`.
const deployer: Actor = { system: false, creator: true, developer: true, approver: false, administrator: true };

export type DeployedTable = TableDefinition & { deployment: Deployment };

/** Deploys one definition and answers it with its deployment; what blocks it is 422. */
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
  requireSuccess(deploymentMachine, deployment, 'applied');
  return { ...(await requireTableDefinition(ctx, call, String(definition.id))), deployment };
}

/** Answers a repeated request: waits for the deployment that the first one began. */
export async function answerDeployedTable(ctx: MetadataContext, call: CallContext, id: number): Promise<DeployedTable> {
  const deployment = await answerDeployed(ctx, call, id);
  const [table] = deployment.table_definitions;
  return { ...(await requireTableDefinition(ctx, call, String(table?.id))), deployment };
}
