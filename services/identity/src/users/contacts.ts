// Users as other services need them: whom to show and whom to mail. No mail goes to service users.
import { notFound } from '@almanac/service-kit/errors';
import type { IdentityContext } from '../context.ts';

const contactColumns = { id: true, first_name: true, last_name: true, email: true } as const;

/** Users by id, suspended ones included; unknown ids are left out. */
export function findUsers(ctx: IdentityContext, accountId: number, ids: number[]) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { ...contactColumns, status: true },
    orderBy: { id: 'asc' },
  });
}

/** People who may approve on a branch: by a permission to approve there, or as administrators. */
export async function listApprovers(ctx: IdentityContext, accountId: number, branchId: number) {
  const privateBranch = { account_id: accountId, branch_id: branchId, is_private: true };
  const isPrivate = (await ctx.prisma.branch_sight.count({ where: privateBranch })) > 0;
  const ofAccount = isPrivate ? [] : [{ resource_type: 'account' }];
  const approves = { action: 'approve', OR: [...ofAccount, { resource_type: 'branch', resource_id: branchId }] };
  return listActive(ctx, accountId, { OR: [byPermission(approves), isAdministrator] });
}

/** People who administer the account. */
export function listAdministrators(ctx: IdentityContext, accountId: number) {
  return listActive(ctx, accountId, isAdministrator);
}

/** All users of the account, for operators. */
export async function listAccountUsers(ctx: IdentityContext, accountId: number) {
  const account = await ctx.prisma.account.findUnique({ where: { id: accountId }, select: { id: true } });
  if (!account) throw notFound('Account');
  const [users, administrators] = await Promise.all([
    ctx.prisma.user.findMany({
      where: { account_id: accountId },
      select: { ...contactColumns, license_type: true, status: true },
      orderBy: { id: 'asc' },
    }),
    ctx.prisma.user.findMany({ where: { account_id: accountId, ...isAdministrator }, select: { id: true } }),
  ]);
  return users.map((user) => ({ ...user, administrator: administrators.some(({ id }) => id === user.id) }));
}

const byPermission = (permission: object) => ({
  assignments: { some: { user_group: { permissions: { some: permission } } } },
});
const isAdministrator = {
  license_type: 'developer',
  ...byPermission({ action: 'admin', resource_type: 'account' }),
} as const;

function listActive(ctx: IdentityContext, accountId: number, where: object) {
  return ctx.prisma.user.findMany({
    where: { account_id: accountId, user_type: 'person', status: 'active', ...where },
    select: contactColumns,
    orderBy: { id: 'asc' },
  });
}
