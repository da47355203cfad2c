// Groups of people and what they may do. System groups belong to the account, a domain or a branch; custom ones are the
// administrators' own.

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
import { isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import { keepAnAdministrator, lockAccount } from './administrators.ts';
import { recordActOf } from './audit.ts';
import { groupsExceptOf, listUnseenBranches, permissionsExceptOn } from './branch-sight.ts';
import type { IdentityContext } from './context.ts';
import { type Database, type Transaction, transact } from './database.ts';
import { type actions, announcePermissionChanged, requireAdministrator, type resourceTypes } from './permissions.ts';
import { transactOnce } from './repeated-requests.ts';

export const groupFields = {
  id: 'integer',
  name: 'text',
  description: 'text?',
  resource_type: 'text?',
  resource_id: 'integer?',
  created_at: 'time',
  updated_at: 'time',
} as const satisfies Fields;

const permissionsShown = { id: true, action: true, resource_type: true, resource_id: true } as const;

// Nothing of private branches that the caller doesn't see.
const shownExcept = (unseen: number[]) =>
  ({ ...shown, permissions: { ...shown.permissions, where: permissionsExceptOn(unseen) } }) as const;

const shown = {
  id: true,
  name: true,
  description: true,
  system_key: true,
  resource_type: true,
  resource_id: true,
  created_at: true,
  updated_at: true,
  permissions: {
    select: permissionsShown,
    orderBy: { id: 'asc' },
  },
  assignments: {
    select: { user: { select: { id: true, first_name: true, last_name: true, email: true } } },
    orderBy: { id: 'asc' },
  },
} as const;

type Shown = { system_key: string | null; assignments: { user: { id: number } }[] };

function present<T extends Shown>({ system_key, assignments, ...group }: T) {
  // Relations are read one after the other: a user who is deleted meanwhile is missing, whatever the type says.
  const members = assignments.flatMap(({ user }) => user ?? []);
  return { ...group, system: system_key !== null, members };
}

export async function listGroups(ctx: IdentityContext, call: CallContext, list: ListQuery) {
  const unseen = await listUnseenBranches(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions), ...groupsExceptOf(unseen) };
  const select = shownExcept(unseen);
  const [groups, count] = await Promise.all([
    ctx.prisma.user_group.findMany({ where, select, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.user_group.count({ where }),
  ]);
  return page(groups.map(present), list, count);
}

/** One group, unless it is of a private branch that the caller doesn't see. */
export async function showGroup(ctx: IdentityContext, call: CallContext, id: number) {
  return getGroup(ctx.prisma, call, id, await listUnseenBranches(ctx, call));
}

async function getGroup(db: Database, call: CallContext, id: number, unseen: number[] = []) {
  const where = { id, account_id: call.accountId, ...groupsExceptOf(unseen) };
  const group = await db.user_group.findFirst({ where, select: shownExcept(unseen) });
  if (!group) throw notFound('User group');
  return present(group);
}

// What the audit log keeps of a group.
function recorded({ id, name, description, permissions, members }: Awaited<ReturnType<typeof getGroup>>) {
  const granted = permissions.map(({ id: _id, ...permission }) => permission);
  return { id, name, description, permissions: granted, member_ids: members.map((member) => member.id) };
}

type WantedPermission = {
  action: (typeof actions)[number];
  resource_type: (typeof resourceTypes)[number];
  /** Left out for the account. */
  resource_id?: number;
};
type NewGroup = { name: string; description?: string | null; permissions?: WantedPermission[] };

/** Makes a custom group. */
export async function createGroup(ctx: IdentityContext, call: CallContext, read: () => NewGroup) {
  await requireAdministrator(ctx, call);
  const { name, description, permissions = [] } = read();
  return withUniqueName(() =>
    transactOnce(ctx, call, async (tx) => {
      const { id } = await tx.db.user_group.create({
        data: { account_id: call.accountId, name, name_key: normalizeName(name), description },
        select: { id: true },
      });
      await replacePermissions(tx, call, id, permissions);
      const group = await getGroup(tx.db, call, id);
      await recordActOf(tx.db, call, createdAct('user_group', recorded(group)));
      return group;
    }),
  );
}

/** Changes a custom group; a list of permissions replaces the present one. */
export async function updateGroup(ctx: IdentityContext, call: CallContext, id: number, read: () => Partial<NewGroup>) {
  const { system } = await showGroup(ctx, call, id);
  await requireAdministrator(ctx, call);
  const { permissions, ...attributes } = read();
  if (system) throw systemGroup();
  const key = attributes.name === undefined ? {} : { name_key: normalizeName(attributes.name) };
  return withUniqueName(() =>
    transact(ctx.prisma, async (tx) => {
      await lockAccount(tx, call.accountId);
      const before = await getGroup(tx.db, call, id);
      const at = permissions === undefined ? {} : { updated_at: new Date() }; // they are rows of their own
      const data = { ...attributes, ...key, ...at };
      await tx.db.user_group.update({ where: { id, account_id: call.accountId }, data });
      if (permissions !== undefined) {
        await replacePermissions(tx, call, id, permissions);
        await keepAnAdministrator(tx, call.accountId);
        await announcePermissionChanged(tx, call.accountId, null, call.requestId);
      }
      const group = await getGroup(tx.db, call, id);
      await recordActOf(tx.db, call, updatedAct('user_group', recorded(before), recorded(group)));
      return group;
    }),
  );
}

/** Deletes a custom group with its permissions and memberships. */
export async function deleteGroup(ctx: IdentityContext, call: CallContext, id: number): Promise<void> {
  const { system } = await showGroup(ctx, call, id);
  await requireAdministrator(ctx, call);
  if (system) throw systemGroup();
  await transact(ctx.prisma, async (tx) => {
    await lockAccount(tx, call.accountId);
    const gone = await getGroup(tx.db, call, id);
    await tx.db.user_group.delete({ where: { id, account_id: call.accountId } });
    await recordActOf(tx.db, call, deletedAct('user_group', recorded(gone)));
    await keepAnAdministrator(tx, call.accountId);
    await announcePermissionChanged(tx, call.accountId, null, call.requestId);
  });
}

const systemGroup = () => new ServiceError('wrong_state', "A group made by the system can't be changed or deleted.");

async function replacePermissions(tx: Transaction, call: CallContext, groupId: number, wanted: WantedPermission[]) {
  await requireResources(tx.db, call, wanted);
  await tx.db.permission.deleteMany({ where: { user_group_id: groupId, account_id: call.accountId } });
  await tx.db.permission.createMany({
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

// Domains and branches are known here by the groups they have. Tables are metadata's; one that doesn't exist grants nothing.
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
  const problems = wanted.flatMap(({ resource_type, resource_id }) => {
    if (resource_type === 'account')
      return resource_id === undefined || resource_id === call.accountId
        ? []
        : [`Permissions name an account that doesn't exist: ${resource_id}`];
    if (resource_id === undefined) return [`Permissions on a ${resource_type} need a resource_id`];
    if (resource_type === 'table_definition' || isKnown(resource_type, resource_id)) return [];
    return [`Permissions name a ${resource_type} that doesn't exist: ${resource_id}`];
  });
  if (problems.length > 0) throw validationFailed([...new Set(problems)]);
}

async function withUniqueName<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error)) throw validationFailed('Name has already been taken');
    throw error;
  }
}
