// The groups the system makes with an account, a domain or a branch (design 3.2), and their going away with it.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { auditEntry, createdAct } from '@almanac/service-kit/messaging/audit';
import { recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { lockAccount } from '../permissions/administrators.ts';
import { groupsExceptOf, listHiddenBranches, saveBranchVisibility } from '../permissions/branch-visibility.ts';
import { announcePermissionChanged } from '../permissions/effective-permissions.ts';
import { type Transaction, transact } from '../transaction.ts';

type Made = 'account' | 'domain' | 'branch';

/** Which groups each kind of resource has, and what each may do there. */
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
} as const satisfies Record<Made, readonly { title: string; action: string }[]>;

export type Resource = { account_id: number; resource_type: Made; resource_id: number };

type Options = {
  /** Of the domain or branch; the account's groups have no prefix. */
  name?: string;
  /** Becomes a member of the Developers group, once, when it is made. */
  creatorId?: number;
  /** False: groups that exist keep their name (a late message may carry an old one). */
  rename?: boolean;
  requestId?: string;
};

/** Makes what is missing of a resource's groups. Repeating it changes nothing; a deleted resource gets none. */
export async function ensureGroups(tx: Transaction, resource: Resource, options: Options): Promise<void> {
  if (await tx.db.deleted_resource.findFirst({ where: resource })) return;
  for (const { title, action } of systemGroups[resource.resource_type]) {
    const name = options.name === undefined ? title : `${options.name} ${title}`;
    const system_key = `${resource.resource_type}:${resource.resource_id}:${action}`;
    const existing = await tx.db.user_group.findUnique({
      where: { account_id_system_key: { account_id: resource.account_id, system_key } },
      select: { id: true, name: true },
    });
    if (existing) {
      if (options.rename !== false && existing.name !== name)
        await tx.db.user_group.update({ where: { id: existing.id }, data: { name } });
      continue;
    }
    const group = await tx.db.user_group.create({
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
  const user = await tx.db.user.findFirst({ where: { id: userId, account_id: accountId }, select: { id: true } });
  if (!user) return;
  const assignment = await tx.db.user_group_assignment.create({
    data: { account_id: accountId, user_id: userId, user_group_id: groupId },
    select: { id: true, user_id: true, user_group_id: true },
  });
  // Nobody asked for this by itself: the log shows it as the system's.
  await recordEntry(tx.db, auditEntry({ accountId, requestId }, createdAct('user_group_assignment', assignment)));
  await announcePermissionChanged(tx, accountId, userId, requestId);
}

/** Takes a domain's or branch's groups and permissions away, and remembers that it is gone. */
export async function dropGroups(tx: Transaction, resource: Resource, requestId?: string): Promise<void> {
  await lockAccount(tx, resource.account_id);
  await tx.db.deleted_resource.upsert({
    where: { account_id_resource_type_resource_id: resource },
    create: resource,
    update: {},
  });
  await tx.db.user_group.deleteMany({ where: { ...resource, system_key: { not: null } } });
  await tx.db.permission.deleteMany({ where: resource });
  await announcePermissionChanged(tx, resource.account_id, null, requestId);
}

/** The RPC: metadata asks right after its commit; the event that follows finds nothing left to do. */
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
    throw new ServiceError('bad_request', 'resource_type must be domain or branch.');
  const resource = { account_id: call.accountId, resource_type, resource_id: input.resource_id } as const;
  await transact(ctx.prisma, async (tx) => {
    await lockAccount(tx, call.accountId);
    if (resource_type === 'branch' && branch) {
      const told = { ...branch, owner_id: branch.owner_id === 0 ? null : branch.owner_id };
      await saveBranchVisibility(tx, { account_id: call.accountId, branch_id }, told, call.requestId);
    }
    await ensureGroups(tx, resource, { name: input.name, creatorId: input.creator_id, requestId: call.requestId });
  });
}

const member = { id: true, first_name: true, last_name: true, email: true } as const;

/** The groups that have a permission on the given resources, with their members; not those of private branches that the caller doesn't see. */
export async function listResourceGroups(ctx: IdentityContext, call: CallContext, type: string, ids: number[]) {
  const permissions = await ctx.prisma.permission.findMany({
    where: { account_id: call.accountId, resource_type: type, resource_id: { in: ids } },
    select: { user_group_id: true, resource_id: true, action: true },
    orderBy: { id: 'asc' },
  });
  const ofPermissions = { in: permissions.map((permission) => permission.user_group_id) };
  const groups = await ctx.prisma.user_group.findMany({
    where: { account_id: call.accountId, id: ofPermissions, ...groupsExceptOf(await listHiddenBranches(ctx, call)) },
    select: { id: true, name: true, assignments: { select: { user: { select: member } }, orderBy: { id: 'asc' } } },
    orderBy: { id: 'asc' },
  });
  return ids.flatMap((resourceId) =>
    groups.flatMap((group) => {
      const own = permissions.filter((each) => each.user_group_id === group.id && each.resource_id === resourceId);
      if (own.length === 0) return [];
      const members = group.assignments.flatMap(({ user }) => user ?? []); // one who is deleted meanwhile is missing
      return [{ id: group.id, name: group.name, resource_id: resourceId, actions: own.map((p) => p.action), members }];
    }),
  );
}
