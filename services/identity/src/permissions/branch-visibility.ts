// Who sees a branch: of a private one its owner, who holds rights on it, and administrators. Metadata tells which are private, identity
// tells it everybody who asks for rights, and shows nobody else the groups and permissions of such a branch.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { isKnown } from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';
import { announcePermissionChanged } from './effective-permissions.ts';

/** The private branches that the caller doesn't see. Machines see all of their account. */
export async function listHiddenBranches(ctx: IdentityContext, call: CallContext): Promise<number[]> {
  if (call.userId === undefined) return [];
  const held = await ctx.rights.get(call);
  return [...held.closedBranches].filter((branchId) => !isKnown(held, { branchId }));
}

/** Permissions but those on these branches: a condition for Prisma. */
export const permissionsExceptOn = (branchIds: number[]) =>
  branchIds.length === 0 ? {} : { OR: [{ resource_type: { not: 'branch' } }, { resource_id: { notIn: branchIds } }] };

/** The same of groups, of which the custom ones belong to no resource. */
export const groupsExceptOf = (branchIds: number[]) =>
  branchIds.length === 0
    ? {}
    : { OR: [{ resource_type: null }, { resource_type: { not: 'branch' } }, { resource_id: { notIn: branchIds } }] };

/** What metadata tells of a branch; `revision` rises with every change of it. */
export type BranchVisibility = { is_private: boolean; owner_id: number | null; revision: number };

/** Keeps what was told of a branch, unless something later is known. Everybody's rights change with it. */
export async function saveBranchVisibility(
  tx: Transaction,
  { account_id, branch_id }: { account_id: number; branch_id: number },
  { is_private, owner_id, revision }: BranchVisibility,
  requestId?: string,
): Promise<void> {
  const where = { account_id_branch_id: { account_id, branch_id } };
  const before = await tx.db.branch_sight.findUnique({ where });
  if (before && before.revision >= revision) return;
  const told = { is_private, owner_id, revision };
  await tx.db.branch_sight.upsert({ where, create: { account_id, branch_id, ...told }, update: told });
  const wasPrivate = before?.is_private ?? false;
  if (wasPrivate === is_private && (!is_private || before?.owner_id === owner_id)) return;
  await announcePermissionChanged(tx, account_id, null, requestId);
}
