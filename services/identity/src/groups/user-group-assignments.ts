// Memberships: which user is in which group.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { createdAct, deletedAct } from '@almanac/service-kit/messaging/audit';
import type { Problem } from '@almanac/service-kit/problems';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { transactOnce } from '../idempotency.ts';
import { lockAccount, requireRemainingAdministrator, requireScopeToAppoint } from '../permissions/administrators.ts';
import { groupsExceptOf, listHiddenBranches } from '../permissions/branch-visibility.ts';
import { announcePermissionChanged, requireAdministrator } from '../permissions/effective-permissions.ts';
import { mapUniqueViolation, transact } from '../transaction.ts';

export const assignmentFields = {
  id: 'integer',
  user_id: 'integer',
  user_group_id: 'integer',
  created_at: 'time',
} as const satisfies Fields;

const columns = { id: true, user_id: true, user_group_id: true, created_at: true } as const;

// Hides assignments to groups of branches that the caller doesn't see.
async function visibleTo(ctx: IdentityContext, call: CallContext) {
  const hiddenBranchIds = await listHiddenBranches(ctx, call);
  return hiddenBranchIds.length === 0 ? {} : { user_group: groupsExceptOf(hiddenBranchIds) };
}

/** Assignments of the account, except those to groups that are hidden from the caller. */
export async function listAssignments(ctx: IdentityContext, call: CallContext, list: ListQuery, groupId?: number) {
  const visible = await visibleTo(ctx, call);
  const where = { account_id: call.accountId, user_group_id: groupId, ...prismaWhere(list.conditions), ...visible };
  const [data, count] = await Promise.all([
    ctx.prisma.user_group_assignment.findMany({
      where,
      select: columns,
      orderBy: prismaOrderBy(list),
      ...window(list),
    }),
    ctx.prisma.user_group_assignment.count({ where }),
  ]);
  return page(data, list, count);
}

type NewAssignment = { user_id: number; user_group_id: number };

const alreadyIn: Problem = { code: 'taken', message: 'User is already in this group', field: 'user_id' };

/**
 * Adds a user to a group of the account. Groups that administer or approve need the scope
 * api:admin.
 */
export async function createAssignment(ctx: IdentityContext, call: CallContext, read: () => NewAssignment) {
  await requireAdministrator(ctx, call);
  const { user_id, user_group_id } = read();
  const own = { account_id: call.accountId };
  return mapUniqueViolation(alreadyIn, () =>
    transactOnce(ctx, call, async (tx) => {
      // The lock keeps both from being deleted before the assignment refers to them.
      await lockAccount(tx, call.accountId);
      const user = await tx.user.findFirst({ where: { ...own, id: user_id }, select: { id: true } });
      if (!user) throw notFound('User');
      const group = await tx.user_group.findFirst({ where: { ...own, id: user_group_id }, select: { id: true } });
      if (!group) throw notFound('User group');
      await requireScopeToAppoint(tx, call, user_group_id);
      const assignment = await tx.user_group_assignment.create({
        data: { ...own, user_id, user_group_id },
        select: columns,
      });
      await recordAct(tx, call, createdAct('user_group_assignment', assignment));
      await announcePermissionChanged(tx, call.accountId, user_id, call.requestId);
      return assignment;
    }),
  );
}

/** Removes a user from a group. Groups that administer or approve need the scope api:admin. */
export async function deleteAssignment(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const where = { id, account_id: call.accountId };
  const visible = { ...where, ...(await visibleTo(ctx, call)) };
  const assignment = await ctx.prisma.user_group_assignment.findFirst({ where: visible, select: columns });
  if (!assignment) throw notFound('User group assignment');
  await requireAdministrator(ctx, call);
  await transact(ctx, async (tx) => {
    await lockAccount(tx, call.accountId);
    const { count } = await tx.user_group_assignment.deleteMany({ where });
    if (count === 0) throw notFound('User group assignment');
    await requireScopeToAppoint(tx, call, assignment.user_group_id);
    await recordAct(tx, call, deletedAct('user_group_assignment', assignment));
    await requireRemainingAdministrator(tx, call.accountId);
    await announcePermissionChanged(tx, call.accountId, assignment.user_id, call.requestId);
  });
}
