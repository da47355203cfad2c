// Who is in which group.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, deletedAct } from '@almanac/service-kit/messaging/audit';
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import { keepAnAdministrator, lockAccount, requireScopeToAppoint } from './administrators.ts';
import { recordActOf } from './audit.ts';
import { groupsExceptOf, listUnseenBranches } from './branch-sight.ts';
import type { IdentityContext } from './context.ts';
import { transact } from './database.ts';
import { announcePermissionChanged, requireAdministrator } from './permissions.ts';
import { transactOnce } from './repeated-requests.ts';

export const assignmentFields = {
  id: 'integer',
  user_id: 'integer',
  user_group_id: 'integer',
  created_at: 'time',
} as const satisfies Fields;

const shown = { id: true, user_id: true, user_group_id: true, created_at: true } as const;

// Nothing of private branches that the caller doesn't see.
async function seenBy(ctx: IdentityContext, call: CallContext) {
  const unseen = await listUnseenBranches(ctx, call);
  return unseen.length === 0 ? {} : { user_group: groupsExceptOf(unseen) };
}

export async function listAssignments(ctx: IdentityContext, call: CallContext, list: ListQuery, groupId?: number) {
  const seen = await seenBy(ctx, call);
  const where = { account_id: call.accountId, user_group_id: groupId, ...prismaWhere(list.conditions), ...seen };
  const [data, count] = await Promise.all([
    ctx.prisma.user_group_assignment.findMany({
      where,
      select: shown,
      orderBy: prismaOrderBy(list),
      ...window(list),
    }),
    ctx.prisma.user_group_assignment.count({ where }),
  ]);
  return page(data, list, count);
}

type NewAssignment = { user_id: number; user_group_id: number };

/** Puts a person into a group; both must be of the account. To make an administrator or approver takes the scope api:admin. */
export async function createAssignment(ctx: IdentityContext, call: CallContext, read: () => NewAssignment) {
  await requireAdministrator(ctx, call);
  const { user_id, user_group_id } = read();
  const own = { account_id: call.accountId };
  try {
    return await transactOnce(ctx, call, async (tx) => {
      // Locked so that neither can go while the assignment is being made.
      await lockAccount(tx, call.accountId);
      const user = await tx.db.user.findFirst({ where: { ...own, id: user_id }, select: { id: true } });
      if (!user) throw notFound('User');
      const group = await tx.db.user_group.findFirst({ where: { ...own, id: user_group_id }, select: { id: true } });
      if (!group) throw notFound('User group');
      await requireScopeToAppoint(tx, call, user_group_id);
      const assignment = await tx.db.user_group_assignment.create({
        data: { ...own, user_id, user_group_id },
        select: shown,
      });
      await recordActOf(tx.db, call, createdAct('user_group_assignment', assignment));
      await announcePermissionChanged(tx, call.accountId, user_id, call.requestId);
      return assignment;
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw validationFailed('User is already in this group');
    throw error;
  }
}

/** Takes a person out of a group; an administrator or approver only with the scope api:admin. */
export async function deleteAssignment(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const where = { id, account_id: call.accountId };
  const seen = { ...where, ...(await seenBy(ctx, call)) };
  const assignment = await ctx.prisma.user_group_assignment.findFirst({ where: seen, select: shown });
  if (!assignment) throw notFound('User group assignment');
  await requireAdministrator(ctx, call);
  await transact(ctx.prisma, async (tx) => {
    await lockAccount(tx, call.accountId);
    const { count } = await tx.db.user_group_assignment.deleteMany({ where });
    if (count === 0) throw notFound('User group assignment');
    await requireScopeToAppoint(tx, call, assignment.user_group_id);
    await recordActOf(tx.db, call, deletedAct('user_group_assignment', assignment));
    await keepAnAdministrator(tx, call.accountId);
    await announcePermissionChanged(tx, call.accountId, assignment.user_id, call.requestId);
  });
}
