// Who sees what tables look like: whoever may view their rows, and the approvers of their branch, who judge what is deployed there.
import type { CallContext } from '@almanac/service-kit/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { allows, missingRight, type Reach, reachesEverywhere, reachOf, type Where } from '@almanac/service-kit/rights';
import type { Context } from './context.ts';

/** The branches, domains and tables whose definitions the caller sees. Machines see all of their account. */
export async function readSight(ctx: Context, call: CallContext): Promise<Reach> {
  if (call.userId === undefined) return reachesEverywhere;
  const held = await ctx.rights.get(call);
  const views = reachOf(held, 'view');
  const approves = reachOf(held, 'approve');
  return {
    ...views,
    everywhere: views.everywhere || approves.everywhere,
    branchIds: [...views.branchIds, ...approves.branchIds],
  };
}

/** The definitions, drafted or deployed, within sight: a condition for Prisma. */
export function definitionsIn({ everywhere, branchIds, domainIds, tableDefinitionIds }: Reach) {
  if (everywhere) return {};
  return {
    OR: [{ branch_id: { in: branchIds } }, { domain_id: { in: domainIds } }, { id: { in: tableDefinitionIds } }],
  };
}

/** The deployments within sight: those of the branch, or those whose tables are all seen. */
export function deploymentsIn({ everywhere, branchIds, domainIds, tableDefinitionIds }: Reach) {
  if (everywhere) return {};
  const seen = { OR: [{ domain_id: { in: domainIds } }, { table_definition_id: { in: tableDefinitionIds } }] };
  return { OR: [{ branch_id: { in: branchIds } }, { tables: { every: seen } }] };
}

/** Throws 403 unless the caller sees the definition that is there. */
export async function requireSight(ctx: Context, call: CallContext, where: Where): Promise<void> {
  if (call.userId === undefined) return;
  const held = await ctx.rights.get(call);
  if (!allows(held, 'view', where) && !allows(held, 'approve', { branchId: where.branchId }))
    throw missingRight('view', where);
}

type Deployment = { branch_id: number; tables: { table_definition_id: number; domain_id: number }[] };

/** Throws 403 unless the caller sees the deployment. */
export async function requireSightOfDeployment(ctx: Context, call: CallContext, deployment: Deployment): Promise<void> {
  const { everywhere, branchIds, domainIds, tableDefinitionIds } = await readSight(ctx, call);
  if (everywhere || branchIds.includes(deployment.branch_id)) return;
  const [domains, tables] = [new Set(domainIds), new Set(tableDefinitionIds)];
  if (deployment.tables.every((table) => domains.has(table.domain_id) || tables.has(table.table_definition_id))) return;
  throw new ServiceError(
    'forbidden',
    'You need the right "view" on every table of the deployment, on its branch or on the account.',
  );
}
