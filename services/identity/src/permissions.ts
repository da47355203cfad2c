// What somebody may do, read from our own database: the answer other services cache, and our own checks over the same rules.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import {
  compileRights,
  type EffectivePermissions,
  type Rights,
  requireRight,
  unknownUser,
} from '@almanac/service-kit/rights/rights';
import { listUnseenBranches, permissionsExceptOn } from './branch-sight.ts';
import type { IdentityContext } from './context.ts';
import type { Transaction } from './database.ts';
import type { PrismaClient } from './generated/prisma/client.ts';

export const actions = ['admin', 'develop', 'edit', 'view', 'approve'] as const;
export const resourceTypes = ['account', 'domain', 'branch', 'table_definition'] as const;

type Held = EffectivePermissions & { user_id: number; revision: number; private_branch_ids: number[] };

/**
 * One question, one statement: the revision and the permissions are of the same moment. Owners may view their private
 * branches. A user who is gone, suspended or another
 * account's is not found.
 */
export async function getEffectivePermissions(prisma: PrismaClient, accountId: number, userId: number): Promise<Held> {
  const [row] = await prisma.$queryRaw<Held[]>`
    select u.id as user_id, u.license_type, account.rights_revision as revision,
      coalesce(
        jsonb_agg(distinct jsonb_build_object(
          'action', p.action, 'resource_type', p.resource_type, 'resource_id', p.resource_id)) filter (where p.id is not null),
        '[]') as permissions,
      coalesce((select jsonb_agg(b.branch_id order by b.branch_id) from branch_sight b
        where b.account_id = u.account_id and b.is_private), '[]') as private_branch_ids
    from "user" u
    join account on account.id = u.account_id
    left join lateral (
      select p.id, p.action, p.resource_type, p.resource_id
      from user_group_assignment a join permission p on p.user_group_id = a.user_group_id and p.account_id = u.account_id
      where a.user_id = u.id
      union all
      select 0, 'view', 'branch', b.branch_id from branch_sight b
      where b.account_id = u.account_id and b.is_private and b.owner_id = u.id
    ) p on true
    where u.id = ${userId} and u.account_id = ${accountId} and u.status in ('invited', 'active')
    group by u.id, account.id`;
  if (!row) throw notFound('User');
  return row;
}

/** The rights of callers of our own endpoints. Nothing is remembered: the database is at hand. */
export function createOwnRights(prisma: PrismaClient): Rights {
  return {
    async get(call) {
      try {
        return compileRights(await getEffectivePermissions(prisma, call.accountId, call.userId as number));
      } catch (error) {
        throw error instanceof ServiceError && error.kind === 'not_found' ? unknownUser() : error;
      }
    },
    invalidate() {},
    invalidateAll() {},
  };
}

/** Throws 403 unless the caller administers the account; machines act for the whole account within their scopes. */
export function requireAdministrator(ctx: IdentityContext, call: CallContext): Promise<void> {
  return requireRight(ctx.rights, call, 'admin', {});
}

/**
 * Tells everybody who remembers rights: those of one user, or of all users of the account. Part of every transaction that changes
 * them: the revision it raises is locked until the commit, so revisions become visible in their order.
 */
export async function announcePermissionChanged(
  tx: Transaction,
  accountId: number,
  userId: number | null,
  requestId?: string,
): Promise<void> {
  const [raised] = await tx.db.$queryRaw<{ revision: number }[]>`
    update account set rights_revision = rights_revision + 1 where id = ${accountId} returning rights_revision as revision`;
  const payload = { account_id: accountId, user_id: userId, revision: raised?.revision };
  return tx.announce('identity.permission.changed', payload, requestId);
}

export const permissionFields = {
  id: 'integer',
  user_group_id: 'integer',
  action: 'text',
  resource_type: 'text',
  resource_id: 'integer',
} as const satisfies Fields;

const shown = { id: true, user_group_id: true, action: true, resource_type: true, resource_id: true } as const;

/** All permissions in the account, but those of private branches that the caller doesn't see. */
export async function listPermissions(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  const unseen = await listUnseenBranches(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions), ...permissionsExceptOn(unseen) };
  const [data, count] = await Promise.all([
    ctx.prisma.permission.findMany({ where, select: shown, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.permission.count({ where }),
  ]);
  return page(data, list, count);
}
