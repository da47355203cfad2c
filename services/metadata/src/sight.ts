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

/** The promotions within sight: the same, by the branch that they change and the tables there. */
export function promotionsIn({ everywhere, branchIds, domainIds, tableDefinitionIds }: Reach) {
  if (everywhere) return {};
  const seen = { OR: [{ domain_id: { in: domainIds } }, { target_definition_id: { in: tableDefinitionIds } }] };
  return { OR: [{ to_branch_id: { in: branchIds } }, { tables: { every: seen } }] };
}

/** What is about to change: the branch, and the tables on it; a new one has no id there yet. */
type Change = { branchId: number; tables: { id: number | null; domain_id: number }[] };

/** Throws 403 unless the caller sees the deployment or promotion. */
export async function requireSightOfChange(
  ctx: Context,
  call: CallContext,
  noun: 'deployment' | 'promotion',
  change: Change,
): Promise<void> {
  const { everywhere, branchIds, domainIds, tableDefinitionIds } = await readSight(ctx, call);
  if (everywhere || branchIds.includes(change.branchId)) return;
  const [domains, tables] = [new Set(domainIds), new Set<number | null>(tableDefinitionIds)];
  if (change.tables.every(({ id, domain_id }) => domains.has(domain_id) || tables.has(id))) return;
  throw new ServiceError(
    'forbidden',
    `You need the right "view" on every table of the ${noun}, on its branch or on the account.`,
  );
}
