// What a user may do, read from identity's own database: the answer that other services cache, and
// the checks of identity's own endpoints over the same rules.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import {
  compileRights,
  type EffectivePermissions,
  type Rights,
  requireRight,
  unknownUser,
} from '@almanac/service-kit/rights/rights';
import type { IdentityContext } from '../context.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { announce, type Transaction } from '../transaction.ts';

type UserPermissions = EffectivePermissions & { user_id: number; revision: number; private_branch_ids: number[] };

/**
 * Reads permissions and their revision in one statement, so that both are of the same snapshot.
 * Owners may view their private branches. Deleted and suspended users, and those of other accounts,
 * are not found.
 */
export async function getEffectivePermissions(
  prisma: PrismaClient,
  accountId: number,
  userId: number,
): Promise<UserPermissions> {
  const [row] = await prisma.$queryRaw<UserPermissions[]>`
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

/**
 * Rights of callers of identity's own endpoints: read from the database each time, so without a
 * cache.
 */
export function createLocalRights(prisma: PrismaClient): Rights {
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

/**
 * Throws 403 unless the caller administers the account; applications are limited by their scopes
 * alone.
 */
export function requireAdministrator(ctx: IdentityContext, call: CallContext): Promise<void> {
  return requireRight(ctx.rights, call, 'admin', {});
}

/**
 * Invalidates caches of rights: of one user, or of all users of the account (`userId` null). Every
 * transaction that changes rights calls it. The account's row stays locked until the commit, so
 * revisions become visible in order.
 */
export async function announcePermissionChanged(
  tx: Transaction,
  accountId: number,
  userId: number | null,
  requestId?: string,
): Promise<void> {
  const [raised] = await tx.$queryRaw<{ revision: number }[]>`
    update account set rights_revision = rights_revision + 1 where id = ${accountId} returning rights_revision as revision`;
  const payload = { user_id: userId, revision: raised?.revision };
  return announce(tx, { accountId, requestId }, 'permission.changed', payload);
}
