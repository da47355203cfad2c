// Who sees deployments and promotions.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { allows, isKnown, type Reach, reachOf } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../context.ts';
import { readVisibleReach } from '../rights/visibility.ts';

/** The deployments within sight: those of the branch, or those whose tables are all seen. */
export function visibleDeployments({ everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds }: Reach) {
  const own = { table_definition_id: { in: tableDefinitionIds } };
  const seen = { OR: [{ domain_id: { in: domainIds } }, own] };
  const open = { branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { tables: { every: seen } }) };
  return { OR: [{ branch_id: { in: branchIds } }, open, { tables: { every: own } }] };
}

/**
 * The promotions within sight: the same, by the branch that they change and the tables there. Those that come from a private branch
 * are seen by who sees that, by who proposed them and by the approvers of the target.
 */
export async function visiblePromotions(ctx: MetadataContext, call: CallContext) {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = await readVisibleReach(ctx, call);
  const own = { target_definition_id: { in: tableDefinitionIds } };
  const seen = { OR: [{ domain_id: { in: domainIds } }, own] };
  const open = { to_branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { tables: { every: seen } }) };
  const onTarget = { OR: [{ to_branch_id: { in: branchIds } }, open, { tables: { every: own } }] };
  if (call.userId === undefined) return onTarget;
  const held = await ctx.rights.get(call);
  const unseen = closedBranchIds.filter((branchId) => !isKnown(held, { branchId }));
  if (unseen.length === 0) return onTarget;
  const approves = reachOf(held, 'approve');
  const judged = {
    to_branch_id: approves.everywhere ? { notIn: closedBranchIds } : { in: approves.branchIds },
  };
  const fromSeen = { OR: [{ from_branch_id: { notIn: unseen } }, { created_by: call.userId }, judged] };
  return { OR: [{ AND: [onTarget, fromSeen] }] };
}

/** Whether a promotion comes from a private branch that the caller doesn't see, and isn't one they proposed or judge. */
export async function isSourceHidden(
  ctx: MetadataContext,
  call: CallContext,
  { from_branch_id, to_branch_id, created_by }: Source,
): Promise<boolean> {
  if (call.userId === undefined || call.userId === created_by) return false;
  const held = await ctx.rights.get(call);
  return !isKnown(held, { branchId: from_branch_id }) && !allows(held, 'approve', { branchId: to_branch_id });
}

type Source = { from_branch_id: number; to_branch_id: number; created_by: number | null };

/** What is about to change: the branch, and the tables on it; a new one has no id there yet. */
type Change = { branchId: number; tables: { id: number | null; domain_id: number }[] };

/** Throws 403 unless the caller sees the deployment or promotion; 404 on a private branch that they don't see. */
export async function requireVisibleChange(
  ctx: MetadataContext,
  call: CallContext,
  noun: 'deployment' | 'promotion',
  change: Change,
): Promise<void> {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = await readVisibleReach(ctx, call);
  if (branchIds.includes(change.branchId)) return;
  const isClosed = closedBranchIds.includes(change.branchId);
  if (isClosed && !change.tables.every(({ id }) => id !== null && tableDefinitionIds.includes(id)))
    throw notFound(noun === 'deployment' ? 'Deployment' : 'Promotion');
  if (everywhere || isClosed) return;
  const [domains, tables] = [new Set(domainIds), new Set<number | null>(tableDefinitionIds)];
  if (change.tables.every(({ id, domain_id }) => domains.has(domain_id) || tables.has(id))) return;
  throw new ServiceError(
    'forbidden',
    `You need the right "view" on every table of the ${noun}, on its branch or on the account.`,
  );
}
