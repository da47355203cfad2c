// System groups: created with an account, a domain or a branch, and deleted with it.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { auditEntry, createdAct } from '@almanac/service-kit/messaging/audit';
import { recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { lockAccount } from '../permissions/administrators.ts';
import { groupsExceptOf, listHiddenBranches, saveBranchVisibility } from '../permissions/branch-visibility.ts';
import { announcePermissionChanged } from '../permissions/effective-permissions.ts';
import { type Transaction, transact } from '../transaction.ts';

type ResourceType = 'account' | 'domain' | 'branch';

/** The system groups of each type of resource, and what each may do there. */
const systemGroups = {
  account: [
    { title: 'Administrators', action: 'admin' },
    { title: 'Developers', action: 'develop' },
  ],
  domain: [
    { title: 'Developers', action: 'develop' },
    { title: 'Data Managers', action: 'edit' },
    { title: 'Viewers', action: 'view' },
  ],
  branch: [
    { title: 'Developers', action: 'develop' },
    { title: 'Approvers', action: 'approve' },
    { title: 'Editors', action: 'edit' },
  ],
} as const satisfies Record<ResourceType, readonly { title: string; action: string }[]>;

export type Resource = { account_id: number; resource_type: ResourceType; resource_id: number };

type Options = {
  /** Name of the domain or branch, the prefix of its groups' names; unset for an account. */
  name?: string;
  /** This user becomes a member of the Developers group when the group is created. */
  creatorId?: number;
  /** False: existing groups keep their names, since a late message may carry an old one. */
  rename?: boolean;
  requestId?: string;
};

/** Creates the missing groups of a resource. Idempotent; a deleted resource gets no groups. */
export async function ensureGroups(tx: Transaction, resource: Resource, options: Options): Promise<void> {
  if (await tx.deleted_resource.findFirst({ where: resource })) return;
  for (const { title, action } of systemGroups[resource.resource_type]) {
    const name = options.name === undefined ? title : `${options.name} ${title}`;
    const system_key = `${resource.resource_type}:${resource.resource_id}:${action}`;
    const existing = await tx.user_group.findUnique({
      where: { account_id_system_key: { account_id: resource.account_id, system_key } },
      select: { id: true, name: true },
    });
    if (existing) {
      if (options.rename !== false && existing.name !== name)
        await tx.user_group.update({ where: { id: existing.id }, data: { name } });
      continue;
    }
    const group = await tx.user_group.create({
      data: {
        ...resource,
        name,
        system_key,
        permissions: { create: { ...resource, action } },
      },
      select: { id: true },
    });
    if (action === 'develop' && options.creatorId !== undefined)
      await addCreator(tx, resource.account_id, group.id, options.creatorId, options.requestId);
  }
}

async function addCreator(tx: Transaction, accountId: number, groupId: number, userId: number, requestId?: string) {
  const user = await tx.user.findFirst({ where: { id: userId, account_id: accountId }, select: { id: true } });
  if (!user) return;
  const assignment = await tx.user_group_assignment.create({
    data: { account_id: accountId, user_id: userId, user_group_id: groupId },
    select: { id: true, user_id: true, user_group_id: true },
  });
  // No user asked for this assignment: the audit log shows it as the system's.
  await recordEntry(tx, auditEntry({ accountId, requestId }, createdAct('user_group_assignment', assignment)));
  await announcePermissionChanged(tx, accountId, userId, requestId);
}

/** Deletes a resource's groups and permissions, and records that the resource is deleted. */
export async function deleteGroups(tx: Transaction, resource: Resource, requestId?: string): Promise<void> {
  await lockAccount(tx, resource.account_id);
  await tx.deleted_resource.upsert({
    where: { account_id_resource_type_resource_id: resource },
    create: resource,
    update: {},
  });
  await tx.user_group.deleteMany({ where: { ...resource, system_key: { not: null } } });
  await tx.permission.deleteMany({ where: resource });
  await announcePermissionChanged(tx, resource.account_id, null, requestId);
}

/**
 * Metadata calls this right after its commit; the event that follows then has nothing left to do.
 */
export async function ensureResourceGroups(
  ctx: IdentityContext,
  call: CallContext,
  input: {
    resource_type: string;
    resource_id: number;
    name: string;
    creator_id?: number;
    branch?: { is_private: boolean; owner_id: number; revision: number } | null;
  },
): Promise<void> {
  const { resource_type, resource_id: branch_id, branch } = input;
  if (resource_type !== 'domain' && resource_type !== 'branch')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: 'resource_type must be domain or branch.',
      field: 'resource_type',
      params: { allowed: ['domain', 'branch'] },
    });
  const resource = { account_id: call.accountId, resource_type, resource_id: input.resource_id } as const;
  await transact(ctx, async (tx) => {
    await lockAccount(tx, call.accountId);
    if (resource_type === 'branch' && branch) {
      const visibility = { ...branch, owner_id: branch.owner_id === 0 ? null : branch.owner_id };
      await saveBranchVisibility(tx, { account_id: call.accountId, branch_id }, visibility, call.requestId);
    }
    await ensureGroups(tx, resource, { name: input.name, creatorId: input.creator_id, requestId: call.requestId });
  });
}

const memberColumns = { id: true, first_name: true, last_name: true, email: true } as const;

/** Groups with a permission on the resources, with members, except those hidden from the caller. */
export async function listResourceGroups(ctx: IdentityContext, call: CallContext, type: string, ids: number[]) {
  const permissions = await ctx.prisma.permission.findMany({
    where: { account_id: call.accountId, resource_type: type, resource_id: { in: ids } },
    select: { user_group_id: true, resource_id: true, action: true },
    orderBy: { id: 'asc' },
  });
  const ofPermissions = { in: permissions.map((permission) => permission.user_group_id) };
  const groups = await ctx.prisma.user_group.findMany({
    where: { account_id: call.accountId, id: ofPermissions, ...groupsExceptOf(await listHiddenBranches(ctx, call)) },
    select: {
      id: true,
      name: true,
      assignments: { select: { user: { select: memberColumns } }, orderBy: { id: 'asc' } },
    },
    orderBy: { id: 'asc' },
  });
  return ids.flatMap((resourceId) =>
    groups.flatMap((group) => {
      const own = permissions.filter((each) => each.user_group_id === group.id && each.resource_id === resourceId);
      if (own.length === 0) return [];
      const members = group.assignments.flatMap(({ user }) => user ?? []); // a concurrently deleted user is missing
      return [
        { id: group.id, name: group.name, resource_id: resourceId, actions: own.map(({ action }) => action), members },
      ];
    }),
  );
}
