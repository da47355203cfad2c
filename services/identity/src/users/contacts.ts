// Users as other services need them: whom to show and whom to mail.
import type { IdentityContext } from '../context.ts';

const contact = { id: true, first_name: true, last_name: true, email: true } as const;

/** People by id, for other services, also suspended ones; unknown ids are left out. */
export function findUsers(ctx: IdentityContext, accountId: number, ids: number[]) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { ...contact, status: true },
    orderBy: { id: 'asc' },
  });
}

/** Who may approve on a branch: by a permission to approve there, or as an administrator. */
export async function listApprovers(ctx: IdentityContext, accountId: number, branchId: number) {
  const closed = { account_id: accountId, branch_id: branchId, is_private: true };
  const isPrivate = (await ctx.prisma.branch_sight.count({ where: closed })) > 0;
  const ofAccount = isPrivate ? [] : [{ resource_type: 'account' }];
  const approves = { action: 'approve', OR: [...ofAccount, { resource_type: 'branch', resource_id: branchId }] };
  return listActive(ctx, accountId, { OR: [through(approves), administering] });
}

/** People who administer the account. */
export function listAdministrators(ctx: IdentityContext, accountId: number) {
  return listActive(ctx, accountId, administering);
}

const through = (permission: object) => ({
  assignments: { some: { user_group: { permissions: { some: permission } } } },
});
const administering = { license_type: 'developer', ...through({ action: 'admin', resource_type: 'account' }) } as const;

function listActive(ctx: IdentityContext, accountId: number, who: object) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, status: 'active', ...who },
    select: contact,
    orderBy: { id: 'asc' },
  });
}
