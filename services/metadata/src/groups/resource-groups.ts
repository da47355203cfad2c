// The user groups of domains, branches and tables. Identity stores them; metadata shows them, and
// has identity create those of new domains and branches.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';

export const memberSchema = z
  .object({ id: z.int(), first_name: z.string(), last_name: z.string(), email: z.string() })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof memberSchema>;

export const resourceGroupSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    resource_type: z.enum(['domain', 'branch', 'table_definition']),
    resource_id: z.int(),
    actions: z.array(z.string()).meta({ description: 'What its members may do there.' }),
    members: z.array(memberSchema),
  })
  .meta({ id: 'ResourceGroup' });
export type ResourceGroup = z.infer<typeof resourceGroupSchema>;

type ResourceType = ResourceGroup['resource_type'];
type Resource = { type: ResourceType; id: number };

/** Lists the groups with a permission on any of the resources, with their members. */
export async function listResourceGroups(
  ctx: MetadataContext,
  call: CallContext,
  resources: Resource[],
): Promise<ResourceGroup[]> {
  const answers = await Promise.all(
    resources.map(({ type, id }) => ctx.identity.ListResourceGroups(call, { resource_type: type, resource_ids: [id] })),
  );
  return answers.flatMap((answer, index) =>
    answer.user_groups.map((group) => ({
      id: group.id,
      name: group.name,
      resource_type: resources[index]?.type as ResourceType,
      resource_id: group.resource_id,
      actions: group.actions,
      members: group.members.map(toMember),
    })),
  );
}

/** One user of the account; null when they were deleted. */
export async function findUser(ctx: MetadataContext, call: CallContext, id: number | null): Promise<Member | null> {
  if (id === null) return null;
  const { users } = await ctx.identity.ListUsers(call, { ids: [id] });
  const user = users[0];
  return user ? toMember(user) : null;
}

function toMember({ id, first_name, last_name, email }: Member): Member {
  return { id, first_name, last_name, email };
}

/**
 * Has identity create or rename the system groups of a domain or branch, and record who sees the
 * branch, right after the resource was committed. A failure is only logged: the event that was
 * committed with the resource makes identity do the same.
 */
export async function ensureResourceGroups(
  ctx: MetadataContext,
  caller: RpcCaller,
  resource: { type: 'domain' | 'branch'; id: number; name: string; creatorId?: number },
): Promise<void> {
  try {
    const branch = resource.type === 'branch' ? await findBranchVisibility(ctx, caller, resource.id) : undefined;
    const { knows_sight } = await ctx.identity.EnsureResourceGroups(caller, {
      resource_type: resource.type,
      resource_id: resource.id,
      name: resource.name,
      creator_id: resource.creatorId,
      ...(branch && {
        branch: {
          is_private: branch.branch_type === 'private',
          owner_id: branch.owner_id ?? 0,
          revision: branch.revision,
        },
      }),
    });
    if (branch && knows_sight) {
      const { branch_type, revision } = branch;
      await ctx.prisma.branch.updateMany({ where: { id: resource.id, revision }, data: { told_type: branch_type } });
      // A branch that an application made private is hidden from all users at once.
      if (branch_type !== branch.told_type) ctx.rights.invalidate(caller.accountId, null);
    }
    if (resource.creatorId !== undefined) ctx.rights.invalidate(caller.accountId, resource.creatorId);
  } catch (error) {
    ctx.logger.warn(
      { err: error, resource: `${resource.type} ${resource.id}` },
      'the groups of a resource will follow by event',
    );
  }
}

function findBranchVisibility(ctx: MetadataContext, { accountId }: RpcCaller, id: number) {
  const select = { branch_type: true, owner_id: true, revision: true, told_type: true };
  return ctx.prisma.branch.findFirst({ where: { id, account_id: accountId }, select });
}

/**
 * Sends identity the branch types that it hasn't confirmed: those older than this call, and those
 * that were sent to an earlier release of identity.
 */
export async function resendBranchTypes(ctx: MetadataContext, batchSize: number): Promise<void> {
  const unconfirmed = await ctx.prisma.$queryRaw<{ id: number; account_id: number; name: string }[]>`
    update branch set revision = revision + 1
    where id in (select id from branch where branch_type <> told_type order by id limit ${batchSize}::int)
    returning id, account_id, name`;
  for (const { account_id, id, name } of unconfirmed)
    await ensureResourceGroups(ctx, { accountId: account_id }, { type: 'branch', id, name });
}
