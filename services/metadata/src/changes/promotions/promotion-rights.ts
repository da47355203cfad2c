// What somebody is to a promotion: its creator, a developer of all that it changes, an approver.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import { allows, type HeldRights, isKnown } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';
import type { Actor } from '../approval-states.ts';
import type { TablePair } from './comparison/promotion-plan.ts';

type Promoted = {
  created_by: number | null;
  to_branch_id: number;
  tables: { table_definition_id: number; target_definition_id: number | null; domain_id: number }[];
};

/** What is true of the caller, by identity's answer of this moment: approval must not rest on a remembered right. */
export async function actorOf(
  ctx: MetadataContext,
  call: CallContext,
  promotion: Promoted,
  held?: HeldRights,
): Promise<Actor> {
  const ids = promotion.tables.flatMap(({ table_definition_id, target_definition_id }) => [
    table_definition_id,
    target_definition_id ?? 0,
  ]);
  const definitions = await ctx.prisma.table_definition.findMany({
    where: { id: { in: ids }, account_id: call.accountId },
    select: { id: true, domain_id: true },
  });
  const domains = new Map(definitions.map(({ id, domain_id }) => [id, domain_id]));
  const places = promotion.tables.map(({ table_definition_id, target_definition_id, domain_id }) => ({
    targetId: target_definition_id,
    domainIds: [
      domain_id,
      domains.get(table_definition_id) ?? domain_id,
      domains.get(target_definition_id ?? 0) ?? domain_id,
    ],
  }));
  const now = held ?? (await ctx.rights.get(call, { fresh: true }));
  const branchId = promotion.to_branch_id;
  if (!places.some(({ targetId }) => isKnown(now, { branchId, tableDefinitionId: targetId ?? undefined })))
    throw notFound('Promotion');
  return judge(now, call, promotion, places);
}

/** The same by the tables that were compared, locked: what was noted of them may be over. */
export function actorOfCompared(held: HeldRights, call: CallContext, promotion: Promoted, pairs: TablePair[]) {
  const noted = new Map(promotion.tables.map(({ table_definition_id, domain_id }) => [table_definition_id, domain_id]));
  const places = pairs.map(({ sourceId, targetId, source, target }) => {
    const domainIds = [source, target].flatMap((side) => (side ? [side.domain_id] : []));
    return { targetId, domainIds: domainIds.length > 0 ? domainIds : [noted.get(sourceId) as number] };
  });
  return judge(held, call, promotion, places);
}

type Place = { targetId: number | null; domainIds: number[] };

function judge(
  held: HeldRights,
  { userId }: CallContext,
  { created_by, to_branch_id: branchId }: Promoted,
  places: Place[],
): Actor {
  return {
    system: false,
    creator: created_by === userId,
    // A table that moves to another domain takes the right in both, as it does when it is moved by hand.
    developer: places.every(({ targetId, domainIds }) =>
      domainIds.every((domainId) =>
        allows(held, 'develop', { branchId, domainId, tableDefinitionId: targetId ?? undefined }),
      ),
    ),
    approver: allows(held, 'approve', { branchId }),
    administrator: allows(held, 'admin', {}),
  };
}
