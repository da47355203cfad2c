// The right to the rows that copies begin with. It was checked when the copy was requested
// (table-clone.ts, promotions). The rows that are copied are later ones, so it is checked once more
// before a deployment begins, and again by data when it copies them.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type ErrorKind, ServiceError } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { requireRight, type Where } from '@almanac/service-kit/rights/rights';
import type { MetadataContext } from '../../context.ts';

/**
 * Throws 403 unless, for each table that would begin with rows, the caller or the user who
 * requested the rows may view the original now. One of the two is enough: approvers need not see
 * other users' branches, and a request of a deleted user can be deployed by a user who sees the
 * original.
 */
export async function requireViewOfFirstRows(
  ctx: MetadataContext,
  call: CallContext,
  tableIds: number[],
): Promise<void> {
  if (call.userId === undefined) return;
  const problems: Problem[] = [];
  for (const { name, requestedBy, original } of await findCopies(ctx, call, tableIds)) {
    const isAllowed =
      (await mayView(ctx, call, original)) ||
      (requestedBy !== null &&
        requestedBy !== call.userId &&
        (await mayView(ctx, { ...call, userId: requestedBy }, original)));
    if (!isAllowed)
      problems.push({
        code: 'missing_right',
        message: `${name}: It begins with the rows of table ${original.tableDefinitionId}: you, or the user who requested them, need the right "view" there.`,
        params: { right: 'view', table_definition_id: original.tableDefinitionId },
      });
  }
  if (problems.length > 0) throw new ServiceError('forbidden', problems);
}

type Copy = { name: string; requestedBy: number | null; original: Where };

async function findCopies(ctx: MetadataContext, { accountId }: CallContext, tableIds: number[]): Promise<Copy[]> {
  const copies = await ctx.prisma.table_definition.findMany({
    where: { account_id: accountId, id: { in: tableIds }, rows_from_id: { not: null } },
    select: { id: true, name: true, rows_from_id: true, rows_asked_by: true },
    orderBy: { id: 'asc' },
  });
  if (copies.length === 0) return [];
  const ids = copies.flatMap(({ id, rows_from_id }) => [id, rows_from_id as number]);
  const deployed = await ctx.prisma.deployed_table_definition.findMany({
    where: { account_id: accountId, id: { in: ids } },
    select: { id: true, domain_id: true, branch_id: true },
  });
  const places = new Map(deployed.map((table) => [table.id, table]));
  return copies.flatMap(({ id, name, rows_from_id, rows_asked_by: requestedBy }) => {
    const original = places.get(rows_from_id as number);
    // A deployed copy has its rows, and an original that is out of service has none to copy.
    if (!original || places.has(id)) return [];
    const { id: tableDefinitionId, domain_id: domainId, branch_id: branchId } = original;
    return [{ name, requestedBy, original: { tableDefinitionId, domainId, branchId } }];
  });
}

// Not found: on a private branch that the user does not see. Unauthenticated: a deleted user.
const refusals = new Set<ErrorKind>(['forbidden', 'not_found', 'unauthenticated']);

async function mayView(ctx: MetadataContext, call: CallContext, original: Where): Promise<boolean> {
  try {
    await requireRight(ctx.rights, call, 'view', original, { fresh: true });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && refusals.has(error.kind)) return false;
    throw error;
  }
}
