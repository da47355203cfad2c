// Which branches and definitions a caller sees. A definition is visible to users who may view its
// rows, and to the approvers of its branch, who judge what is deployed there. Applications see
// everything in their account.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import {
  allows,
  type HeldRights,
  isKnown,
  type Reach,
  reachesEverywhere,
  reachOf,
  refusal,
  type Where,
} from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';

/**
 * The branches that the caller sees, as a condition for Prisma. A private branch is visible to
 * users with rights on it or on one of its tables.
 */
export async function visibleBranches(ctx: MetadataContext, call: RpcCaller) {
  if (call.userId === undefined) return {};
  const held = await ctx.rights.get(call);
  const hidden = [...held.closedBranches].filter((branchId) => !isKnown(held, { branchId }));
  if (hidden.length === 0) return {};
  const withRight = { some: { id: { in: [...held.table_definition.keys()] } } };
  return {
    OR: [{ id: { notIn: hidden } }, { table_definitions: withRight }, { deployed_table_definitions: withRight }],
  };
}

/** The branches, domains and tables whose definitions the caller sees. */
export async function readVisibleReach(ctx: MetadataContext, call: CallContext): Promise<Reach> {
  if (call.userId === undefined) return reachesEverywhere;
  const held = await ctx.rights.get(call);
  const views = reachOf(held, 'view');
  const approves = reachOf(held, 'approve');
  return {
    ...views,
    everywhere: views.everywhere || approves.everywhere,
    branchIds: [...views.branchIds, ...approves.branchIds],
  };
}

/** The visible definitions, drafted or deployed, as a condition for Prisma. */
export function visibleDefinitions({ everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds }: Reach) {
  const open = { branch_id: { notIn: closedBranchIds }, ...(everywhere ? {} : { domain_id: { in: domainIds } }) };
  return { OR: [{ branch_id: { in: branchIds } }, { id: { in: tableDefinitionIds } }, open] };
}

/** The values of `visibleDefinitionsSql`. */
export const visibleValues = (reach: Reach): unknown[] => [
  reach.everywhere,
  reach.branchIds,
  reach.domainIds,
  reach.tableDefinitionIds,
  reach.closedBranchIds,
];

/** The same as a condition in SQL on the definitions `name`; `first`: the place of its values. */
export function visibleDefinitionsSql(name: string, first: number): string {
  const [everywhere, branchIds, domainIds, ids, closed] = [0, 1, 2, 3, 4].map((i) => `$${first + i}`);
  return (
    `(${name}.branch_id = any(${branchIds}::int[]) or ${name}.id = any(${ids}::int[])` +
    ` or (${name}.branch_id <> all(${closed}::int[]) and (${everywhere}::boolean or ${name}.domain_id = any(${domainIds}::int[]))))`
  );
}

/**
 * Throws 403 unless the caller sees the definition; 404 about `noun` when it is on a private
 * branch.
 */
export async function requireVisible(
  ctx: MetadataContext,
  call: CallContext,
  where: Where,
  noun = 'Table definition',
): Promise<void> {
  if (call.userId === undefined) return;
  const held = await ctx.rights.get(call);
  if (!sees(held, where)) throw refusal(held, 'view', where, () => notFound(noun));
}

/** Whether a user with these rights sees the definition. */
export const sees = (held: HeldRights, where: Where): boolean =>
  allows(held, 'view', where) || allows(held, 'approve', { branchId: where.branchId });
