// Permissions as the API lists them.
import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { IdentityContext } from '../context.ts';
import { listHiddenBranches, permissionsExceptOn } from './branch-visibility.ts';

export const actions = ['admin', 'develop', 'edit', 'view', 'approve'] as const;
export const resourceTypes = ['account', 'domain', 'branch', 'table_definition'] as const;

export const permissionFields = {
  id: 'integer',
  user_group_id: 'integer',
  action: 'text',
  resource_type: 'text',
  resource_id: 'integer',
} as const satisfies Fields;

const columns = { id: true, user_group_id: true, action: true, resource_type: true, resource_id: true } as const;

/** All permissions of the account, except those on branches that are hidden from the caller. */
export async function listPermissions(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  const hiddenBranchIds = await listHiddenBranches(ctx, call);
  const where = {
    account_id: call.accountId,
    ...prismaWhere(list.conditions),
    ...permissionsExceptOn(hiddenBranchIds),
  };
  const [data, count] = await Promise.all([
    ctx.prisma.permission.findMany({ where, select: columns, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.permission.count({ where }),
  ]);
  return page(data, list, count);
}
