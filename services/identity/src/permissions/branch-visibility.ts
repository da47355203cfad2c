// Who sees a branch: of a private one its owner, who holds rights on it, and administrators. Metadata tells which are private, identity
// tells it everybody who asks for rights, and shows nobody else the groups and permissions of such a branch.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { isKnown } from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';

/** The private branches that the caller doesn't see. Machines see all of their account. */
export async function listUnseenBranches(ctx: IdentityContext, call: CallContext): Promise<number[]> {
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
