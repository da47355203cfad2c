// Who sees the rows of a promotion: whoever may view them on the source branch, which is where they come from, and the approvers
// of the target branch, who judge what comes.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { allows, refusal } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import type { StoredPromotion } from './promotions.ts';

/** Throws 403 unless the caller may see the rows that a promotion merges. */
export async function requireVisibleRows(
  ctx: MetadataContext,
  call: CallContext,
  { from_branch_id, to_branch_id, tables }: StoredPromotion,
): Promise<void> {
  const held = await ctx.rights.get(call);
  if (allows(held, 'approve', { branchId: to_branch_id })) return;
  const definitions = await ctx.prisma.table_definition.findMany({
    where: { account_id: call.accountId, id: { in: tables.map(({ table_definition_id }) => table_definition_id) } },
    select: { id: true, domain_id: true },
  });
  for (const { id, domain_id } of definitions) {
    const place = { tableDefinitionId: id, domainId: domain_id, branchId: from_branch_id };
    if (!allows(held, 'view', place)) throw refusal(held, 'view', place, () => notFound('Promotion'));
  }
}
