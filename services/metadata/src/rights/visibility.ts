// Who sees what tables look like: whoever may view their rows, and the approvers of their branch, who judge what is deployed there.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import {
  allows,
  isKnown,
  type Reach,
  reachesEverywhere,
  reachOf,
  refusal,
  type Where,
} from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';

/** The branches that the caller sees: of private ones those where they hold rights, on the branch or a table. A condition for Prisma. */
export async function visibleBranches(ctx: MetadataContext, call: RpcCaller) {
  if (call.userId === undefined) return {};
  const held = await ctx.rights.get(call);
  const unseen = [...held.closedBranches].filter((branchId) => !isKnown(held, { branchId }));
  if (unseen.length === 0) return {};
  const withRight = { some: { id: { in: [...held.table_definition.keys()] } } };
  return {
    OR: [{ id: { notIn: unseen } }, { table_definitions: withRight }, { deployed_table_definitions: withRight }],
  };
}

/** The branches, domains and tables whose definitions the caller sees. Machines see all of their account. */
export async function readVisibleReach(ctx: MetadataContext, call: CallContext): Promise<Reach> {
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
export function visibleDefinitions({ everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds }: Reach) {
  const open = { branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { domain_id: { in: domainIds } }) };
  return { OR: [{ branch_id: { in: branchIds } }, { id: { in: tableDefinitionIds } }, open] };
}

/** Throws 403 unless the caller sees the definition that is there; on a private branch 404, of a `noun` that is read by itself. */
export async function requireVisible(
  ctx: MetadataContext,
  call: CallContext,
  where: Where,
  noun = 'Table definition',
): Promise<void> {
  if (call.userId === undefined) return;
  const held = await ctx.rights.get(call);
  if (!allows(held, 'view', where) && !allows(held, 'approve', { branchId: where.branchId }))
    throw refusal(held, 'view', where, () => notFound(noun));
}
