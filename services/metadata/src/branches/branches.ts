// Branches: definitions are drafted and deployed on them, independently of each other (design 3.3).

import { descriptionSchema, idSchema } from '@almanac/service-kit/api/input';
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import { normalizeName, visibleNameSchema } from '@almanac/service-kit/api/names';
import { type CallContext, requireScope } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import type { Problem } from '@almanac/service-kit/problems';
import { type Action, allows, reachOf, requireRight } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import {
  ensureResourceGroups,
  findUser,
  listResourceGroups,
  type Member,
  type ResourceGroup,
} from '../groups/resource-groups.ts';
import { transactOnce } from '../requests/idempotency.ts';
import { visibleBranches } from '../rights/visibility.ts';
import {
  announce,
  lockRow,
  mapUniqueViolation,
  nameTaken,
  recordAct,
  type Transaction,
  transact,
} from '../transaction.ts';
import {
  branchRowPolicyAttributes,
  isInForce,
  readSplit,
  rowPolicyChange,
  rowPolicyFields,
  rowPolicyRevisions,
  sendRowPoliciesSoon,
} from './row-policies.ts';

/** The fields of a branch as it is stored. */
export const branchFields = {
  id: true,
  name: true,
  description: true,
  branch_type: true,
  is_default: true,
  is_protected: true,
  parent_branch_id: true,
  owner_id: true,
  ...rowPolicyFields,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.branchSelect;
const withRevisions = { ...branchFields, ...rowPolicyRevisions } as const satisfies Prisma.branchSelect;

type BranchFields = Prisma.branchGetPayload<{ select: typeof branchFields }>;
export type StoredBranch = BranchFields & { row_policy_in_force: boolean };
/** `is_current`: it is the branch that the caller works on. */
export type Branch = StoredBranch & { is_current: boolean };

function withForce({
  row_policy_revision,
  confirmed_row_policy_revision,
  ...branch
}: Prisma.branchGetPayload<{ select: typeof withRevisions }>): StoredBranch {
  return { ...branch, row_policy_in_force: isInForce({ row_policy_revision, confirmed_row_policy_revision }) };
}

/** The fields of a branch in answers of other resources. */
export const branchReferenceFields = {
  id: true,
  name: true,
  branch_type: true,
  is_default: true,
  is_protected: true,
} as const satisfies Prisma.branchSelect;
export type BranchReference = Prisma.branchGetPayload<{ select: typeof branchReferenceFields }>;

export const branchFilters = {
  id: 'integer',
  name: 'text',
  description: 'text?',
  branch_type: 'text',
  is_default: 'boolean',
  is_protected: 'boolean',
  parent_branch_id: 'integer?',
  owner_id: 'integer?',
  row_changes: 'text',
  required_approvals: 'integer',
  self_approval: 'boolean',
  comment_required: 'boolean',
  machine_imports: 'boolean',
  created_at: 'time',
  updated_at: 'time',
} as const;

const changeable = {
  name: visibleNameSchema,
  description: descriptionSchema.optional(),
  branch_type: z.enum(['shared', 'private']).optional(),
  is_protected: z.boolean().optional(),
  ...branchRowPolicyAttributes,
};
export const newBranchAttributes = { ...changeable, parent_branch_id: idSchema.nullable().optional() };
export const branchAttributes = { ...changeable, name: changeable.name.optional() };
type NewAttributes = z.infer<z.ZodObject<typeof newBranchAttributes>>;
type Attributes = z.infer<z.ZodObject<typeof branchAttributes>>;

/** Lists the branches of the account that the caller sees. */
export async function listBranches(ctx: MetadataContext, call: CallContext, list: ListQuery): Promise<Page<Branch>> {
  const visible = await visibleBranches(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions), ...visible };
  const [data, total, currentId] = await Promise.all([
    ctx.prisma.branch.findMany({ where, select: withRevisions, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.branch.count({ where }),
    findCurrentBranchId(ctx, call),
  ]);
  return page(
    data.map((branch) => ({ ...withForce(branch), is_current: branch.id === currentId })),
    list,
    total,
  );
}

export type BranchDetail = Branch & {
  parent: BranchReference | null;
  owner: Member | null;
  user_groups: ResourceGroup[];
  members: Member[];
};

/** One branch with its parent, owner, groups and their members. */
export async function getBranch(ctx: MetadataContext, call: CallContext, id: number): Promise<BranchDetail> {
  const branch = await requireBranch(ctx, call, id);
  const [parent, owner, groups, currentId] = await Promise.all([
    findVisibleParent(ctx, call, branch),
    findUser(ctx, call, branch.owner_id),
    listResourceGroups(ctx, call, [{ type: 'branch', id }]),
    findCurrentBranchId(ctx, call),
  ]);
  const members = new Map(groups.flatMap((group) => group.members).map((member) => [member.id, member]));
  return {
    ...branch,
    is_current: id === currentId,
    parent,
    owner,
    user_groups: groups,
    members: [...members.values()].sort((a, b) => a.id - b.id),
  };
}

/** The parent of a branch; null without one that the caller sees. */
export async function findVisibleParent(
  ctx: MetadataContext,
  call: CallContext,
  { parent_branch_id: id }: { parent_branch_id: number | null },
): Promise<BranchReference | null> {
  if (id === null) return null;
  const where = { id, account_id: call.accountId, ...(await visibleBranches(ctx, call)) };
  return ctx.prisma.branch.findFirst({ where, select: branchReferenceFields });
}

/** A branch of the account that the caller sees, or 404. */
export async function requireBranch(ctx: MetadataContext, call: RpcCaller, id: number): Promise<StoredBranch> {
  const where = { id, account_id: call.accountId };
  const branch = await ctx.prisma.branch.findFirst({ where, select: withRevisions });
  if (!branch) throw notFound('Branch');
  const isVisible =
    branch.branch_type === 'shared' ||
    (await ctx.prisma.branch.count({ where: { ...where, ...(await visibleBranches(ctx, call)) } })) > 0;
  if (!isVisible) throw notFound('Branch');
  return withForce(branch);
}

/** A branch of the account as the caller sees it, or 404. */
export async function showBranch(ctx: MetadataContext, call: CallContext, id: number): Promise<Branch> {
  const branch = await requireBranch(ctx, call, id);
  return { ...branch, is_current: id === (await findCurrentBranchId(ctx, call)) };
}

async function findCurrentBranchId(ctx: MetadataContext, call: CallContext): Promise<number | undefined> {
  if (call.userId === undefined) return undefined;
  const where = { account_id_user_id: { account_id: call.accountId, user_id: call.userId } };
  return (await ctx.prisma.current_branch.findUnique({ where }))?.branch_id;
}

/**
 * Creates a branch; its parent is the given one, else the one the user works on, else `main`.
 * `fill` puts something on it in the same transaction.
 */
export async function createBranch(
  ctx: MetadataContext,
  call: CallContext,
  read: () => NewAttributes,
  fill: (tx: Transaction, branch: BranchFields) => Promise<void> = async () => {},
): Promise<Branch> {
  await requireDevelopSomewhere(ctx, call);
  const { parent_branch_id, ...attributes } = read();
  const parentId = await findParentId(ctx, call, parent_branch_id ?? undefined);
  const create = async (tx: Transaction) => {
    const data = {
      account_id: call.accountId,
      name_key: normalizeName(attributes.name),
      parent_branch_id: parentId,
      owner_id: call.userId ?? null,
      ...attributes,
    };
    const created = await tx.branch.create({ data, select: branchFields });
    await announceBranch(tx, call, 'created', created, call.userId);
    await recordAct(tx, call, createdAct('branch', created));
    await fill(tx, created);
    return created;
  };
  const branch = await mapUniqueViolation(nameTaken, () => transactOnce(ctx, call, create, ({ id }) => id));
  await ensureResourceGroups(ctx, call, { type: 'branch', id: branch.id, name: branch.name, creatorId: call.userId });
  return { ...branch, row_policy_in_force: true, is_current: false };
}

/**
 * Throws 403 unless the caller may develop anywhere, which is what a new branch takes; its groups
 * then decide the rights on it.
 */
export async function requireDevelopSomewhere(ctx: MetadataContext, call: CallContext): Promise<void> {
  if (call.userId === undefined) return;
  const { everywhere, domainIds, branchIds } = reachOf(await ctx.rights.get(call), 'develop');
  if (!everywhere && domainIds.length === 0 && branchIds.length === 0)
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'You need the right "develop" on the account, a domain or a branch.',
    });
}

async function findParentId(
  ctx: MetadataContext,
  call: CallContext,
  givenId: number | undefined,
): Promise<number | null> {
  const id = givenId ?? (await findCurrentBranchId(ctx, call));
  const visible = { account_id: call.accountId, ...(await visibleBranches(ctx, call)) };
  const find = (where: object) =>
    ctx.prisma.branch.findFirst({ where: { ...where, ...visible }, select: { id: true } });
  const parent = id === undefined ? null : await find({ id });
  if (!parent && givenId !== undefined)
    throw validationFailed({ code: 'invalid_reference', message: "Parent branch doesn't exist", field: 'parent_id' });
  return (parent ?? (await find({ is_default: true })))?.id ?? null;
}

/**
 * Changes a branch. Changing its protection or its type needs `admin` and the scope `api:admin`;
 * its owner may change its type too. Changing how rows change needs `admin` or `approve`, alone.
 */
export async function updateBranch(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  read: () => Attributes,
): Promise<Branch> {
  const before = await requireBranch(ctx, call, id);
  const requireDevelop = () => requireOwnerOr(ctx, call, before, 'develop');
  const { policy, others: attributes, setsPolicy } = await readSplit(ctx, call, id, read, requireDevelop);
  const isOwner = call.userId !== undefined && call.userId === before.owner_id;
  if (attributes.is_protected !== undefined || (attributes.branch_type !== undefined && !isOwner)) {
    requireScope(call, 'api:admin');
    await requireRight(ctx.rights, call, 'admin', { branchId: id });
  }
  const problems: Problem[] = [];
  if (before.is_default && attributes.name !== undefined && attributes.name !== before.name)
    problems.push({
      code: 'not_allowed',
      message: `Name of the branch ${before.name} can't be changed`,
      field: 'name',
    });
  if (before.is_default && attributes.branch_type === 'private')
    problems.push({
      code: 'not_allowed',
      message: `Branch type of ${before.name} can't be private`,
      field: 'branch_type',
    });
  if (problems.length > 0) throw validationFailed(problems);
  const branch = await mapUniqueViolation(nameTaken, () =>
    transact(ctx, async (tx) => {
      if (!(await lockRow(tx, 'branch', call.accountId, id))) throw notFound('Branch');
      const now = await tx.branch.findUniqueOrThrow({ where: { id }, select: branchFields });
      const renamed = attributes.name === undefined ? {} : { name_key: normalizeName(attributes.name) };
      const isOther = Object.entries(policy).some(([name, value]) => now[name as keyof typeof policy] !== value);
      const data = {
        ...attributes,
        ...renamed,
        ...policy,
        ...(isOther && rowPolicyChange),
        revision: { increment: 1 },
      };
      const updated = await tx.branch.update({ where: { id }, data, select: branchFields });
      await announceBranch(tx, call, 'updated', updated);
      await recordAct(tx, call, updatedAct('branch', now, updated));
      return updated;
    }),
  );
  if (branch.name !== before.name || branch.branch_type !== before.branch_type)
    await ensureResourceGroups(ctx, call, { type: 'branch', id, name: branch.name });
  const row_policy_in_force = setsPolicy ? await sendRowPoliciesSoon(ctx, call, id) : before.row_policy_in_force;
  return { ...branch, row_policy_in_force, is_current: id === (await findCurrentBranchId(ctx, call)) };
}

/** 403 but for its owner, and those with a right on it. */
export async function requireOwnerOr(
  ctx: MetadataContext,
  call: CallContext,
  branch: StoredBranch,
  action: Action,
): Promise<void> {
  const where = { branchId: branch.id };
  // An owner who has lost `develop` on the branch has no more rights than other users.
  if (call.userId !== undefined && call.userId === branch.owner_id) {
    if (allows(await ctx.rights.get(call, { fresh: true }), 'develop', where)) return;
  }
  await requireRight(ctx.rights, call, action, where);
}

/** Sets the branch that the user works on. */
export async function setCurrentBranch(
  ctx: MetadataContext,
  call: CallContext,
  userId: number,
  id: number,
): Promise<Branch> {
  const branch = await requireBranch(ctx, call, id);
  const save = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'branch', call.accountId, id, 'read'))) throw notFound('Branch');
    await tx.$executeRaw`
      insert into current_branch (account_id, user_id, branch_id, updated_at)
      values (${call.accountId}, ${userId}, ${id}, now())
      on conflict (account_id, user_id) do update set branch_id = excluded.branch_id, updated_at = excluded.updated_at`;
  };
  await transactOnce(ctx, call, save, () => id);
  return { ...branch, is_current: true };
}

/** Creates the branch `main` of a new account, and answers its id; idempotent. */
export async function openMainBranch(ctx: MetadataContext, caller: RpcCaller): Promise<number> {
  return transact(ctx, async (tx) => {
    const [made] = await tx.branch.createManyAndReturn({
      data: { account_id: caller.accountId, name: 'main', name_key: 'main', is_default: true, is_protected: true },
      skipDuplicates: true,
      select: branchFields,
    });
    if (made) {
      await announceBranch(tx, caller, 'created', made);
      return made.id;
    }
    const main = await tx.branch.findFirstOrThrow({ where: { account_id: caller.accountId, is_default: true } });
    return main.id;
  });
}

/** Announces to other services what has happened to a branch. */
export async function announceBranch(
  tx: Transaction,
  caller: RpcCaller,
  event: 'created' | 'updated' | 'deleted',
  branch: Pick<BranchFields, 'id' | 'name' | 'branch_type' | 'owner_id'>,
  creatorId?: number,
): Promise<void> {
  const { id: branch_id, name, branch_type, owner_id } = branch;
  const { revision } = await tx.branch.findUniqueOrThrow({ where: { id: branch_id }, select: { revision: true } });
  const creator_id = creatorId ?? null;
  await announce(tx, caller, `branch.${event}`, { branch_id, name, creator_id, branch_type, owner_id, revision });
}
