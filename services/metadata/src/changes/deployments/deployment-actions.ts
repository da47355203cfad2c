// Which steps the caller may take with deployments.
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { allows, type HeldRights } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import type { Allowed } from '../../rights/allowed-actions.ts';
import { judgeSteps } from '../change-actions.ts';
import { actorWith } from '../change-kind.ts';
import type { DeploymentSummary } from './deployment-schema.ts';
import { deploymentMachine } from './deployment-states.ts';

/** Judges the steps of deployments that the caller sees, with one query for all. */
export async function judgeDeployments(
  ctx: MetadataContext,
  call: CallContext,
  deployments: DeploymentSummary[],
): Promise<Allowed[]> {
  requireUser(call);
  const [held, tables] = await Promise.all([
    ctx.rights.get(call),
    ctx.prisma.deployment_table.findMany({
      where: {
        deployment_id: { in: deployments.map(({ id }) => id) },
        deployment: { account_id: call.accountId },
      },
      select: { deployment_id: true, table_definition_id: true, domain_id: true, is_removal: true },
    }),
  ]);
  const domains = new Map(tables.map((table) => [`${table.deployment_id}/${table.table_definition_id}`, table]));
  return deployments.map((deployment) => {
    const { branch_id: branchId, created_by, status, branch } = deployment;
    // As in the kind's own actor: deleted definitions don't count, unless all are.
    const places = deployment.table_definitions.flatMap(({ id, version }) => {
      const table = domains.get(`${deployment.id}/${id}`);
      return table && (version !== null || table.is_removal)
        ? [{ branchId, domainId: table.domain_id, tableDefinitionId: id }]
        : [];
    });
    const actor = actorWith(held, call, { created_by, branchId }, developsAll(held, places, branchId));
    return judgeSteps(deploymentMachine, call, { status, isProtected: branch.is_protected }, actor);
  });
}

type Place = { branchId: number; domainId: number; tableDefinitionId: number };

const developsAll = (held: HeldRights, places: Place[], branchId: number) =>
  places.length > 0 ? places.every((place) => allows(held, 'develop', place)) : allows(held, 'develop', { branchId });
