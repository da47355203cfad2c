// The right to the rows that copies begin with. It was asked for when they were (table-clone.ts, promotions), and what is copied are the
// rows of a later moment: so it is asked once more, here before a deployment begins, and by data when it copies them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type ErrorKind, ServiceError } from '@almanac/service-kit/errors';
import { requireRight, type Where } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';

/**
 * Throws 403 unless, for each table that would begin with rows, whoever deploys it or whoever asked for them may view the original, by
 * identity's answer of this moment. One of the two is enough: approvers need not see work branches, and what somebody asked for who
 * is gone can be deployed by whoever sees it himself.
 */
export async function requireViewOfFirstRows(
  ctx: MetadataContext,
  call: CallContext,
  tableIds: number[],
): Promise<void> {
  if (call.userId === undefined) return;
  const problems: string[] = [];
  for (const { name, askedBy, original } of await findCopies(ctx, call, tableIds)) {
    if (await mayView(ctx, call, original)) continue;
    if (askedBy !== null && askedBy !== call.userId && (await mayView(ctx, { ...call, userId: askedBy }, original)))
      continue;
    problems.push(
      `${name}: It begins with the rows of table ${original.tableDefinitionId}: you, or whoever asked for them, need the right "view" there.`,
    );
  }
  if (problems.length > 0) throw new ServiceError('forbidden', problems);
}

type Copy = { name: string; askedBy: number | null; original: Where };

async function findCopies(ctx: MetadataContext, { accountId }: CallContext, tableIds: number[]): Promise<Copy[]> {
  const copies = await ctx.prisma.table_definition.findMany({
    where: { account_id: accountId, id: { in: tableIds }, rows_from_id: { not: null } },
    select: { id: true, name: true, rows_from_id: true, rows_asked_by: true },
    orderBy: { id: 'asc' },
  });
  if (copies.length === 0) return [];
  const ids = copies.flatMap(({ id, rows_from_id }) => [id, rows_from_id as number]);
  const served = await ctx.prisma.deployed_table_definition.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { id: true, domain_id: true, branch_id: true },
  });
  const places = new Map(served.map((table) => [table.id, table]));
  return copies.flatMap(({ id, name, rows_from_id, rows_asked_by: askedBy }) => {
    const original = places.get(rows_from_id as number);
    // What is in service has its rows, and an original that isn't any more has none to give.
    if (!original || places.has(id)) return [];
    const { id: tableDefinitionId, domain_id: domainId, branch_id: branchId } = original;
    return [{ name, askedBy, original: { tableDefinitionId, domainId, branchId } }];
  });
}

// Not found: on a private branch that they don't see. Unauthenticated: a user who is gone.
const unseen = new Set<ErrorKind>(['forbidden', 'not_found', 'unauthenticated']);

async function mayView(ctx: MetadataContext, call: CallContext, original: Where): Promise<boolean> {
  try {
    await requireRight(ctx.rights, call, 'view', original, { fresh: true });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && unseen.has(error.kind)) return false;
    throw error;
  }
}
