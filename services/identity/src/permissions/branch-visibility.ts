// Which branches a user sees. A private branch is visible to its owner, to users with rights on it,
// and to administrators. Metadata reports which branches are private; identity includes them in
// effective permissions and hides the groups and permissions of private branches from all other
// users.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { isKnown } from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';
import { announcePermissionChanged } from './effective-permissions.ts';

/** The private branches hidden from the caller. Applications see all branches of their account. */
export async function listHiddenBranches(ctx: IdentityContext, call: CallContext): Promise<number[]> {
  if (call.userId === undefined) return [];
  const held = await ctx.rights.get(call);
  return [...held.closedBranches].filter((branchId) => !isKnown(held, { branchId }));
}

/** A Prisma condition: permissions, except those on these branches. */
export const permissionsExceptOn = (branchIds: number[]) =>
  branchIds.length === 0 ? {} : { OR: [{ resource_type: { not: 'branch' } }, { resource_id: { notIn: branchIds } }] };

/**
 * A Prisma condition: groups, except those of these branches. Custom groups belong to no resource.
 */
export const groupsExceptOf = (branchIds: number[]) =>
  branchIds.length === 0
    ? {}
    : { OR: [{ resource_type: null }, { resource_type: { not: 'branch' } }, { resource_id: { notIn: branchIds } }] };

/** A branch as metadata reports it; `revision` rises with every change of the branch. */
export type BranchVisibility = { is_private: boolean; owner_id: number | null; revision: number };

/**
 * Stores a branch's visibility unless a later revision is known. A change affects every user's
 * rights.
 */
export async function saveBranchVisibility(
  tx: Transaction,
  { account_id, branch_id }: { account_id: number; branch_id: number },
  { is_private, owner_id, revision }: BranchVisibility,
  requestId?: string,
): Promise<void> {
  const where = { account_id_branch_id: { account_id, branch_id } };
  const before = await tx.branch_sight.findUnique({ where });
  if (before && before.revision >= revision) return;
  const reported = { is_private, owner_id, revision };
  await tx.branch_sight.upsert({ where, create: { account_id, branch_id, ...reported }, update: reported });
  const wasPrivate = before?.is_private ?? false;
  if (wasPrivate === is_private && (!is_private || before?.owner_id === owner_id)) return;
  await announcePermissionChanged(tx, account_id, null, requestId);
}
