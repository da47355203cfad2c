// Who sees a change request, with which of its tables, and the roles of a caller in it. Approvers
// of the branch see all of it: they may read what is under their review.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { allows, type HeldRights, isKnown, reachOf, refusal } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readVisibleReach } from '../../rights/visibility.ts';
import type { Actor } from '../approval-states.ts';
import { actorWith } from '../change-kind.ts';

type Table = { table_definition_id: number; domain_id: number };
type Concerned = { branch_id: number; created_by: number | null; application_id: number | null; tables: Table[] };

/** True for the user who created it, or for the application that did so without a user. */
export const isCreator = ({ userId, applicationId }: RpcCaller, request: Omit<Concerned, 'tables'>): boolean =>
  userId === undefined
    ? request.created_by === null && applicationId !== undefined && request.application_id === applicationId
    : request.created_by === userId;

/** The visible change requests, as a condition for Prisma. */
export async function visibleChangeRequests(
  ctx: MetadataContext,
  call: CallContext,
): Promise<Prisma.change_requestWhereInput> {
  const { everywhere, branchIds, domainIds, tableDefinitionIds, closedBranchIds } = await readVisibleReach(ctx, call);
  const open = { branch_id: { notIn: closedBranchIds } };
  const conditions: Prisma.change_requestWhereInput[] = [
    { branch_id: { in: branchIds } },
    everywhere ? open : { ...open, tables: { some: { domain_id: { in: domainIds } } } },
    { tables: { some: { table_definition_id: { in: tableDefinitionIds } } } },
  ];
  if (call.userId === undefined) return { OR: conditions };
  const held = await ctx.rights.get(call);
  const hidden = closedBranchIds.filter((branchId) => !isKnown(held, { branchId }));
  return { OR: [...conditions, { created_by: call.userId, branch_id: { notIn: hidden } }] };
}

/** What of a change request a caller sees. */
export type VisiblePart = { isWhole: boolean; sees(table: Table): boolean };

/** The visible part of a change request. Throws 403, and 404 on a private branch that is hidden. */
export function requireVisiblePart(held: HeldRights | undefined, call: CallContext, request: Concerned): VisiblePart {
  if (!held) return { isWhole: true, sees: () => true };
  const { branch_id: branchId, tables } = request;
  const place = (table: Table) => ({
    branchId,
    domainId: table.domain_id,
    tableDefinitionId: table.table_definition_id,
  });
  const isWhole =
    allows(held, 'view', { branchId }) ||
    allows(held, 'approve', { branchId }) ||
    (isKnown(held, { branchId }) && isCreator(call, request));
  if (isWhole) return { isWhole, sees: () => true };
  const sees = (table: Table) => allows(held, 'view', place(table));
  if (tables.some(sees)) return { isWhole: tables.every(sees), sees };
  if (!isKnown(held, { branchId }) && !tables.some((table) => isKnown(held, place(table))))
    throw notFound('Change request');
  throw new ServiceError('forbidden', {
    code: 'missing_right',
    message: 'You need the right "view" on a table of the change request, on its branch or on the account.',
  });
}

/**
 * The rights of the caller; undefined for applications, which see all of their account. Approval
 * never rests on cached ones (`fresh`).
 */
export async function readHeld(
  ctx: MetadataContext,
  call: CallContext,
  { fresh }: { fresh: boolean },
): Promise<HeldRights | undefined> {
  return call.userId === undefined ? undefined : ctx.rights.get(call, { fresh });
}

/** The roles of the caller. An application has one in what it created; a person decides. */
export function actorBy(held: HeldRights | undefined, call: CallContext, request: Omit<Concerned, 'tables'>): Actor {
  const creator = isCreator(call, request);
  if (!held) return { system: false, creator, developer: false, approver: false, administrator: false };
  const { created_by, branch_id: branchId } = request;
  return { ...actorWith(held, call, { created_by, branchId }, false), creator };
}

/** Throws 403 unless the caller may edit rows of some table of the branch. */
export async function requireEditOnBranch(ctx: MetadataContext, call: CallContext, branchId: number): Promise<void> {
  if (call.userId === undefined) return;
  const held = await ctx.rights.get(call);
  if (allows(held, 'edit', { branchId })) return;
  const { domainIds, tableDefinitionIds } = reachOf(held, 'edit');
  if (domainIds.length > 0 && !held.closedBranches.has(branchId)) return;
  const where = { account_id: call.accountId, branch_id: branchId, id: { in: tableDefinitionIds } };
  if (tableDefinitionIds.length > 0 && (await ctx.prisma.deployed_table_definition.count({ where })) > 0) return;
  throw refusal(held, 'edit', { branchId });
}
