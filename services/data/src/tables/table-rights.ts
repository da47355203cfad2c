// What rights rows take: asked for each call, and once more when long work begins that somebody asked for earlier.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { type Action, allows, type RightsOptions, requireRight, type Where } from '@almanac/service-kit/rights/rights';
import type { DataContext } from '../context.ts';
import { notDeployed } from './catalogue.ts';
import type { DeployedTable } from './table.ts';

/**
 * Throws 403 unless the caller may do this to rows of the table, by a right on it, its domain, its branch or the account; 404 on a
 * private branch that they don't see.
 */
export function requireRightOn(
  ctx: Pick<DataContext, 'rights'>,
  call: CallContext,
  action: Action,
  table: DeployedTable,
  options?: RightsOptions,
): Promise<void> {
  return requireRight(ctx.rights, call, action, whereIs(table), { ...options, missing: notDeployed });
}

const whereIs = ({ domain_id, branch_id, table_definition_id }: DeployedTable): Where => ({
  domainId: domain_id,
  branchId: branch_id,
  tableDefinitionId: table_definition_id,
});

/** Whether the caller may see rows of the table, by a right as above. */
export async function maySee(
  ctx: Pick<DataContext, 'rights'>,
  call: CallContext,
  table: DeployedTable,
): Promise<boolean> {
  return call.userId === undefined || allows(await ctx.rights.get(call), 'view', whereIs(table));
}

/**
 * As `requireRightOn`, for a whole load or read, by what identity and the catalogue say at this moment: the right may have been taken away
 * since the work was asked for, and so may whoever asked for it, which is 403 too.
 */
export async function requireRightToWork(
  ctx: Pick<DataContext, 'rights' | 'catalogue'>,
  call: CallContext,
  action: Action,
  tableDefinitionId: number,
): Promise<void> {
  if (call.userId === undefined) return;
  const table = await ctx.catalogue.read(call.accountId, { id: tableDefinitionId });
  if (!table) throw notDeployed();
  try {
    await requireRightOn(ctx, call, action, table, { fresh: true });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'unauthenticated') throw error;
    throw new ServiceError('forbidden', 'Whoever asked for this is no longer a user of the account.');
  }
}
