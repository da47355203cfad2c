// How rows change (design 3.3): directly, or by change requests. A branch has a policy, and a table
// may differ from it in any part. Data enforces it: a change is stored first and then sent to data,
// and it is in force once data has confirmed it.

import { type CallContext, hasScope } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { allows } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { lockRow, type Transaction, transact } from '../transaction.ts';

/** The most approvals that a policy can require. */
export const maximumApprovals = 5;

/** `row_changes`: `direct` or `request`. The others say how requests are decided. */
export type RowPolicy = {
  row_changes: string;
  required_approvals: number;
  self_approval: boolean;
  comment_required: boolean;
  machine_imports: boolean;
};

/** What a table says itself; null: as its branch. */
export type OwnRowPolicy = { [Part in keyof RowPolicy]: RowPolicy[Part] | null };

/** The fields of a policy, of a branch or a table. */
export const rowPolicyFields = {
  row_changes: true,
  required_approvals: true,
  self_approval: true,
  comment_required: true,
  machine_imports: true,
} as const satisfies Record<keyof RowPolicy, true>;

/** The fields of a branch that say whether data has confirmed its policies. */
export const rowPolicyRevisions = { row_policy_revision: true, confirmed_row_policy_revision: true } as const;
type Revisions = { row_policy_revision: number; confirmed_row_policy_revision: number };

const parts = Object.keys(rowPolicyFields) as (keyof RowPolicy)[];

const shape = {
  row_changes: z.enum(['direct', 'request']).meta({
    description:
      '`request`: rows change by change requests, promotions and, with `machine_imports`, imports of applications alone.',
  }),
  required_approvals: z.int().min(1).max(maximumApprovals).meta({
    description: 'How many people approve a change request before it is applied.',
  }),
  self_approval: z.boolean().meta({ description: 'Whether the creator of a change request may approve it.' }),
  comment_required: z
    .boolean()
    .meta({ description: 'Whether sending a change request for approval and approving it take a comment.' }),
  machine_imports: z.boolean().meta({
    description: 'With `row_changes: request`: whether imports of applications go on.',
  }),
};
const inForceSchema = z.boolean().meta({
  description: 'Whether the policies of the branch are in force; false for a moment while a change of them is made.',
});

/** The policy of a branch in answers, with whether it is in force. */
export const branchRowPolicyShape = { ...shape, row_policy_in_force: inForceSchema };

const nullable = <T extends z.ZodType>(part: T, description: string) => part.nullable().meta({ description });
const own = (part: keyof RowPolicy) => `\`${part}\` of the table; null: as its branch.`;

/** What a table says itself, in answers and requests; and the policy that results. */
const ownShape = {
  row_changes: nullable(shape.row_changes, own('row_changes')),
  required_approvals: nullable(shape.required_approvals, own('required_approvals')),
  self_approval: nullable(shape.self_approval, own('self_approval')),
  comment_required: nullable(shape.comment_required, own('comment_required')),
  machine_imports: nullable(shape.machine_imports, own('machine_imports')),
};
export const tableRowPolicyShape = {
  ...ownShape,
  row_policy: z
    .object({ ...shape, in_force: inForceSchema })
    .meta({ id: 'RowPolicy', description: 'How rows of the table change: what it says itself, else its branch.' }),
};

const optional = <S extends Record<string, z.ZodType>>(schemas: S) =>
  z.object(schemas).partial().shape as { [Name in keyof S]: z.ZodOptional<S[Name]> };

/** The attributes of requests that change the policy of a branch. */
export const branchRowPolicyAttributes = optional(shape);
/** The same of a table; null: as its branch. */
export const tableRowPolicyAttributes = optional(ownShape);

/** Splits attributes into those of the policy and the others. */
export function splitRowPolicy<A extends object>(attributes: A): SplitAttributes<A> {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return {
    policy: Object.fromEntries(given.filter(([name]) => isPart(name))) as SplitAttributes<A>['policy'],
    others: Object.fromEntries(given.filter(([name]) => !isPart(name))) as SplitAttributes<A>['others'],
  };
}

type SplitAttributes<A> = { policy: Pick<A, keyof RowPolicy & keyof A>; others: Omit<A, keyof RowPolicy> };

const isPart = (name: string | undefined) => parts.includes(name as keyof RowPolicy);

/** The policy of a table: each part its own, or that of its branch. */
export function effectiveRowPolicy(table: Partial<OwnRowPolicy>, branch: RowPolicy): RowPolicy {
  const part = <P extends keyof RowPolicy>(name: P) => [name, table[name] ?? branch[name]] as const;
  return Object.fromEntries(parts.map(part)) as RowPolicy;
}

/** Whether data has confirmed the policies of the branch as they are stored. */
export const isInForce = ({ row_policy_revision, confirmed_row_policy_revision }: Revisions): boolean =>
  row_policy_revision === confirmed_row_policy_revision;

/**
 * Reads the attributes of a change: of the policy for those who may set it, of anything else after
 * `requireDevelop`. A missing right is reported before problems of attributes that it is for.
 */
export async function readSplit<A extends object>(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  read: () => A,
  requireDevelop: () => Promise<void>,
): Promise<SplitAttributes<A> & { setsPolicy: boolean }> {
  const maySet = await maySetRowPolicy(ctx, call, branchId);
  if (!maySet) await requireDevelop();
  let split: SplitAttributes<A>;
  try {
    split = splitRowPolicy(read());
  } catch (error) {
    const isOfPolicy = error instanceof ServiceError && error.problems.every(({ field }) => isPart(field));
    if (maySet && !isOfPolicy) await requireDevelop();
    throw error;
  }
  const setsPolicy = Object.keys(split.policy).length > 0;
  if (setsPolicy) await requireRowPolicyRight(ctx, call, branchId);
  if (maySet && (!setsPolicy || Object.keys(split.others).length > 0)) await requireDevelop();
  return { ...split, setsPolicy };
}

// By cached rights unless `fresh`.
async function maySetRowPolicy(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  options: { fresh?: boolean } = {},
): Promise<boolean> {
  if (call.userId === undefined) return hasScope(call, 'api:admin');
  const held = await ctx.rights.get(call, options);
  return allows(held, 'approve', { branchId }) || allows(held, 'admin', { branchId });
}

// By the rights of the caller as they are now.
async function requireRowPolicyRight(ctx: MetadataContext, call: CallContext, branchId: number): Promise<void> {
  if (await maySetRowPolicy(ctx, call, branchId, { fresh: true })) return;
  const who =
    call.userId === undefined
      ? 'an application with the scope api:admin, or an approver or administrator of the branch,'
      : 'an approver or administrator of the branch or the account';
  throw new ServiceError('forbidden', {
    code: 'missing_right',
    message: `Only ${who} may change how rows change.`,
    params: { right: 'approve' },
  });
}

/** The update of a branch with every change of a policy on it, in the transaction of the change. */
export const rowPolicyChange = { row_policy_revision: { increment: 1 } } as const;

/**
 * Has data follow the policies of a branch, and answers whether they are in force. They are not
 * while a deployment or a restoration on the branch began under earlier ones: the reconciler calls
 * this again.
 */
export async function sendRowPolicies(ctx: MetadataContext, caller: RpcCaller, branchId: number): Promise<boolean> {
  const found = await transact(ctx, (tx) => readRowPolicies(tx, caller, branchId));
  if (!found || isInForce(found.branch)) return true;
  const { policies, isBusy } = found;
  const { row_policy_revision: revision } = found.branch;
  if (policies.length > 0)
    await ctx.data.SetRowPolicies(
      caller,
      { policies: policies.map((policy) => ({ ...policy, revision })) },
      { deadlineMs: 60_000 },
    );
  if (isBusy) return false;
  const [branch] = await ctx.prisma.$queryRaw<Revisions[]>`
    update branch set confirmed_row_policy_revision = greatest(confirmed_row_policy_revision, ${revision}::int)
    where id = ${branchId} and account_id = ${caller.accountId}
    returning row_policy_revision, confirmed_row_policy_revision`;
  return branch === undefined || isInForce(branch);
}

type SentPolicy = { table_definition_id: number; row_changes: string; machine_imports: boolean };

// Under the lock of the branch, as deployments and restorations begin: one of them either is seen
// here, or reads these policies. They end without that lock, so whether one runs is read first: the
// tables of one that has ended by then are among those read after.
async function readRowPolicies(tx: Transaction, { accountId }: RpcCaller, branchId: number) {
  if (!(await lockRow(tx, 'branch', accountId, branchId))) return undefined;
  const branch = await tx.branch.findUniqueOrThrow({ where: { id: branchId }, select: rowPolicyRevisions });
  const [busy] = await tx.$queryRaw<{ is_busy: boolean }[]>`
    select exists (select from deployment where deploying_branch_id = ${branchId})
      or exists (select from table_removal where branch_id = ${branchId} and restore_requested_at is not null) as is_busy`;
  const policies = await tx.$queryRaw<SentPolicy[]>`
    select d.id as table_definition_id, coalesce(t.row_changes, b.row_changes) as row_changes,
      coalesce(t.machine_imports, b.machine_imports) as machine_imports
    from deployed_table_definition d join branch b on b.id = d.branch_id left join table_definition t on t.id = d.id
    where d.branch_id = ${branchId} and d.account_id = ${accountId} order by d.id`;
  return { branch, policies, isBusy: busy?.is_busy ?? false };
}

/** The same right after a change; a failure is logged, and the reconciler tries again. */
export async function sendRowPoliciesSoon(ctx: MetadataContext, caller: RpcCaller, branchId: number): Promise<boolean> {
  try {
    return await sendRowPolicies(ctx, caller, branchId);
  } catch (error) {
    ctx.logger.warn({ err: error, branch_id: branchId }, 'data follows the policies of a branch later');
    return false;
  }
}

/** The branches whose policies data has not confirmed. */
export function listUnconfirmedPolicies(
  ctx: Pick<MetadataContext, 'prisma'>,
  limit: number,
): Promise<{ id: number; account_id: number }[]> {
  return ctx.prisma.$queryRaw`
    select id, account_id from branch where row_policy_revision <> confirmed_row_policy_revision order by id limit ${limit}::int`;
}
