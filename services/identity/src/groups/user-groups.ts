// Groups of users, with permissions. System groups belong to the account, a domain or a branch;
// administrators manage custom groups.

import {
  type Fields,
  type ListQuery,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { normalizeName } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, deletedAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { type Problem, type ProblemCode, withoutRepeated } from '@almanac/service-kit/problems';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { transactOnce } from '../idempotency.ts';
import { lockAccount, requireRemainingAdministrator } from '../permissions/administrators.ts';
import { groupsExceptOf, listHiddenBranches, permissionsExceptOn } from '../permissions/branch-visibility.ts';
import { announcePermissionChanged, requireAdministrator } from '../permissions/effective-permissions.ts';
import type { actions, resourceTypes } from '../permissions/permissions.ts';
import { type Database, mapUniqueViolation, type Transaction, transact } from '../transaction.ts';

export const groupFields = {
  id: 'integer',
  name: 'text',
  description: 'text?',
  resource_type: 'text?',
  resource_id: 'integer?',
  created_at: 'time',
  updated_at: 'time',
} as const satisfies Fields;

const permissionColumns = { id: true, action: true, resource_type: true, resource_id: true } as const;

// Leaves permissions on hidden branches out.
const columnsExceptOn = (hiddenBranchIds: number[]) =>
  ({ ...columns, permissions: { ...columns.permissions, where: permissionsExceptOn(hiddenBranchIds) } }) as const;

const columns = {
  id: true,
  name: true,
  description: true,
  system_key: true,
  resource_type: true,
  resource_id: true,
  created_at: true,
  updated_at: true,
  permissions: {
    select: permissionColumns,
    orderBy: { id: 'asc' },
  },
  assignments: {
    select: { user: { select: { id: true, first_name: true, last_name: true, email: true } } },
    orderBy: { id: 'asc' },
  },
} as const;

type Group = { system_key: string | null; assignments: { user: { id: number } }[] };

function toGroup<T extends Group>({ system_key, assignments, ...group }: T) {
  // Prisma reads relations one after another, so a concurrently deleted user is missing despite the
  // type.
  const members = assignments.flatMap(({ user }) => user ?? []);
  return { ...group, system: system_key !== null, members };
}

/** Groups of the account, except those that are hidden from the caller. */
export async function listGroups(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  const hiddenBranchIds = await listHiddenBranches(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions), ...groupsExceptOf(hiddenBranchIds) };
  const select = columnsExceptOn(hiddenBranchIds);
  const [groups, count] = await Promise.all([
    ctx.prisma.user_group.findMany({ where, select, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user_group.count({ where }),
  ]);
  return page(groups.map(toGroup), list, count);
}

/** One group; a group of a branch that is hidden from the caller is not found. */
export async function showGroup(ctx: IdentityContext, call: CallContext, id: number) {
  return getGroup(ctx.prisma, call, id, await listHiddenBranches(ctx, call));
}

async function getGroup(db: Database, call: CallContext, id: number, hiddenBranchIds: number[] = []) {
  const where = { id, account_id: call.accountId, ...groupsExceptOf(hiddenBranchIds) };
  const group = await db.user_group.findFirst({ where, select: columnsExceptOn(hiddenBranchIds) });
  if (!group) throw notFound('User group');
  return toGroup(group);
}

// A group as the audit log keeps it.
function toAuditState({ id, name, description, permissions, members }: Awaited<ReturnType<typeof getGroup>>) {
  const granted = permissions.map(({ id: _id, ...permission }) => permission);
  return { id, name, description, permissions: granted, member_ids: members.map((member) => member.id) };
}

type WantedPermission = {
  action: (typeof actions)[number];
  resource_type: (typeof resourceTypes)[number];
  /** Unset for the account. */
  resource_id?: number;
};
type NewGroup = { name: string; description?: string | null; permissions?: WantedPermission[] };

/** Creates a custom group. */
export async function createGroup(ctx: IdentityContext, call: CallContext, read: () => NewGroup) {
  await requireAdministrator(ctx, call);
  const { name, description, permissions = [] } = read();
  return mapUniqueViolation(nameTaken, () =>
    transactOnce(ctx, call, async (tx) => {
      const { id } = await tx.user_group.create({
        data: { account_id: call.accountId, name, name_key: normalizeName(name), description },
        select: { id: true },
      });
      await replacePermissions(tx, call, id, permissions);
      const group = await getGroup(tx, call, id);
      await recordAct(tx, call, createdAct('user_group', toAuditState(group)));
      return group;
    }),
  );
}

/** Changes a custom group; a list of permissions replaces the current one. */
export async function updateGroup(ctx: IdentityContext, call: CallContext, id: number, read: () => Partial<NewGroup>) {
  const { system } = await showGroup(ctx, call, id);
  await requireAdministrator(ctx, call);
  const { permissions, ...attributes } = read();
  if (system) throw systemGroup();
  const key = attributes.name === undefined ? {} : { name_key: normalizeName(attributes.name) };
  return mapUniqueViolation(nameTaken, () =>
    transact(ctx, async (tx) => {
      await lockAccount(tx, call.accountId);
      const before = await getGroup(tx, call, id);
      const at = permissions === undefined ? {} : { updated_at: new Date() }; // permissions are other rows
      const data = { ...attributes, ...key, ...at };
      await tx.user_group.update({ where: { id, account_id: call.accountId }, data });
      if (permissions !== undefined) {
        await replacePermissions(tx, call, id, permissions);
        await requireRemainingAdministrator(tx, call.accountId);
        await announcePermissionChanged(tx, call.accountId, null, call.requestId);
      }
      const group = await getGroup(tx, call, id);
      await recordAct(tx, call, updatedAct('user_group', toAuditState(before), toAuditState(group)));
      return group;
    }),
  );
}

/** Deletes a custom group with its permissions and memberships. */
export async function deleteGroup(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const { system } = await showGroup(ctx, call, id);
  await requireAdministrator(ctx, call);
  if (system) throw systemGroup();
  await transact(ctx, async (tx) => {
    await lockAccount(tx, call.accountId);
    const group = await getGroup(tx, call, id);
    await tx.user_group.delete({ where: { id, account_id: call.accountId } });
    await recordAct(tx, call, deletedAct('user_group', toAuditState(group)));
    await requireRemainingAdministrator(tx, call.accountId);
    await announcePermissionChanged(tx, call.accountId, null, call.requestId);
  });
}

const nameTaken: Problem = { code: 'taken', message: 'Name has already been taken', field: 'name' };

const systemGroup = () =>
  new ServiceError('wrong_state', {
    code: 'not_allowed',
    message: "A group made by the system can't be changed or deleted.",
  });

async function replacePermissions(tx: Transaction, call: CallContext, groupId: number, wanted: WantedPermission[]) {
  await requireResources(tx, call, wanted);
  await tx.permission.deleteMany({ where: { user_group_id: groupId, account_id: call.accountId } });
  await tx.permission.createMany({
    data: wanted.map(({ action, resource_type, resource_id }) => ({
      account_id: call.accountId,
      user_group_id: groupId,
      action,
      resource_type,
      resource_id: resource_id ?? call.accountId,
    })),
    skipDuplicates: true,
  });
}

// A domain or branch exists when it has system groups. Tables aren't checked: identity doesn't know
// them, and a permission on a missing table grants nothing.
async function requireResources(db: Database, call: CallContext, wanted: WantedPermission[]): Promise<void> {
  const ids = wanted.flatMap(({ resource_type, resource_id }) =>
    resource_id !== undefined && (resource_type === 'domain' || resource_type === 'branch') ? [resource_id] : [],
  );
  const known = await db.user_group.findMany({
    where: { account_id: call.accountId, system_key: { not: null }, resource_id: { in: ids } },
    select: { resource_type: true, resource_id: true },
  });
  const isKnown = (type: string, id: number) =>
    known.some(({ resource_type, resource_id }) => resource_type === type && resource_id === id);
  const problem = (code: ProblemCode, message: string): Problem => ({ code, message, field: 'permissions' });
  const problems = wanted.flatMap(({ resource_type, resource_id }) => {
    if (resource_type === 'account')
      return resource_id === undefined || resource_id === call.accountId
        ? []
        : [problem('invalid_reference', `Permissions name an account that doesn't exist: ${resource_id}`)];
    if (resource_id === undefined) return [problem('blank', `Permissions on a ${resource_type} need a resource_id`)];
    if (resource_type === 'table_definition' || isKnown(resource_type, resource_id)) return [];
    return [problem('invalid_reference', `Permissions name a ${resource_type} that doesn't exist: ${resource_id}`)];
  });
  if (problems.length > 0) throw validationFailed(withoutRepeated(problems));
}
