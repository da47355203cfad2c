// Which deployments and promotions a caller sees: those whose tables they all see, those of
// branches that they view or approve on.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { allows, isKnown, type Reach, reachOf } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../context.ts';
import { readVisibleReach } from '../rights/visibility.ts';
import { type Noun, titleOf, wordOf } from './approval-states.ts';

/** The visible deployments, as a condition for Prisma. */
export function visibleDeployments({ everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds }: Reach) {
  const own = { table_definition_id: { in: tableDefinitionIds } };
  const visible = { OR: [{ domain_id: { in: domainIds } }, own] };
  const open = { branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { tables: { every: visible } }) };
  return { OR: [{ branch_id: { in: branchIds } }, open, { tables: { every: own } }] };
}

/**
 * The visible promotions, as a condition for Prisma: like deployments, by the target branch and the
 * tables there. A promotion from a private branch is also hidden from users who do not see that
 * branch, except for its creator and the approvers of the target.
 */
export async function visiblePromotions(ctx: MetadataContext, call: CallContext) {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = await readVisibleReach(ctx, call);
  const own = { target_definition_id: { in: tableDefinitionIds } };
  const visible = { OR: [{ domain_id: { in: domainIds } }, own] };
  const open = { to_branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { tables: { every: visible } }) };
  const onTarget = { OR: [{ to_branch_id: { in: branchIds } }, open, { tables: { every: own } }] };
  if (call.userId === undefined) return onTarget;
  const held = await ctx.rights.get(call);
  const hidden = closedBranchIds.filter((branchId) => !isKnown(held, { branchId }));
  if (hidden.length === 0) return onTarget;
  const approves = reachOf(held, 'approve');
  const approved = { to_branch_id: approves.everywhere ? { notIn: closedBranchIds } : { in: approves.branchIds } };
  const fromVisible = { OR: [{ from_branch_id: { notIn: hidden } }, { created_by: call.userId }, approved] };
  return { OR: [{ AND: [onTarget, fromVisible] }] };
}

type Source = { from_branch_id: number; to_branch_id: number; created_by: number | null };

/**
 * True for a promotion from a private branch hidden from the caller, unless they created or approve
 * it.
 */
export async function isSourceHidden(
  ctx: MetadataContext,
  call: CallContext,
  { from_branch_id, to_branch_id, created_by }: Source,
): Promise<boolean> {
  if (call.userId === undefined || call.userId === created_by) return false;
  const held = await ctx.rights.get(call);
  return !isKnown(held, { branchId: from_branch_id }) && !allows(held, 'approve', { branchId: to_branch_id });
}

/** The branch that changes, and the tables on it; a new table has no id there yet. */
type Change = { branchId: number; tables: { id: number | null; domain_id: number }[] };

/**
 * Throws 403 unless the caller sees the change; 404 when its branch is private and hidden from
 * them.
 */
export async function requireVisibleChange(
  ctx: MetadataContext,
  call: CallContext,
  noun: Noun,
  change: Change,
): Promise<void> {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = await readVisibleReach(ctx, call);
  if (branchIds.includes(change.branchId)) return;
  const isClosed = closedBranchIds.includes(change.branchId);
  if (isClosed && !change.tables.every(({ id }) => id !== null && tableDefinitionIds.includes(id)))
    throw notFound(titleOf(noun));
  if (everywhere || isClosed) return;
  const [domains, tables] = [new Set(domainIds), new Set<number | null>(tableDefinitionIds)];
  if (change.tables.every(({ id, domain_id }) => domains.has(domain_id) || tables.has(id))) return;
  throw new ServiceError('forbidden', {
    code: 'missing_right',
    message: `You need the right "view" on every table of the ${wordOf(noun)}, on its branch or on the account.`,
  });
}
