// The rights that rows require: checked for each call, and once more when long work begins that was
// requested earlier.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import {
  type Action,
  allows,
  type Rights,
  type RightsOptions,
  requireRight,
  type Where,
} from '@almanac/service-kit/rights/rights';
import { type Catalogue, notDeployed } from './catalogue.ts';
import type { DeployedTable } from './table.ts';

/**
 * Throws 403 unless the caller may do this to rows of the table, by a right on it, its domain, its
 * branch or the account; 404 on a private branch that they don't see.
 */
export function requireRightOn(
  { rights }: { rights: Rights },
  call: CallContext,
  action: Action,
  table: DeployedTable,
  options?: RightsOptions,
): Promise<void> {
  return requireRight(rights, call, action, whereIs(table), { ...options, missing: notDeployed });
}

/** Where the rights on a table are. */
export type TablePlace = Pick<DeployedTable, 'domain_id' | 'branch_id' | 'table_definition_id'>;

const whereIs = ({ domain_id, branch_id, table_definition_id }: TablePlace): Where => ({
  domainId: domain_id,
  branchId: branch_id,
  tableDefinitionId: table_definition_id,
});

/** Whether the caller may view rows of the table, by a right as above. */
export async function maySee({ rights }: { rights: Rights }, call: CallContext, table: TablePlace): Promise<boolean> {
  return call.userId === undefined || allows(await rights.get(call), 'view', whereIs(table));
}

/** Whether the caller approves on the branch of the table; people do. */
export async function mayReview(
  { rights }: { rights: Rights },
  call: CallContext,
  { branch_id }: DeployedTable,
): Promise<boolean> {
  return call.userId !== undefined && allows(await rights.get(call), 'approve', { branchId: branch_id });
}

/**
 * Like `requireRightOn`, for a whole load or read, by the present answers of identity and the
 * catalogue: the right may have been revoked since the work was requested. So may the user have
 * been deleted, which is 403 too.
 */
export async function requireRightToWork(
  { rights, catalogue }: { rights: Rights; catalogue: Catalogue },
  call: CallContext,
  action: Action,
  tableDefinitionId: number,
): Promise<void> {
  if (call.userId === undefined) return;
  const table = await catalogue.read(call.accountId, { id: tableDefinitionId });
  if (!table) throw notDeployed();
  try {
    await requireRightOn({ rights }, call, action, table, { fresh: true });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'unauthenticated') throw error;
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'The user who requested this is no longer a user of the account.',
    });
  }
}
