// The reach of a caller's rights, for lists and for requests that concern no single table.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import {
  type Action,
  missingRight,
  type Reach,
  type Rights,
  type RightsOptions,
  reachesEverywhere,
  reachOf,
} from '@almanac/service-kit/rights/rights';

/** The places where the caller may act so. Machines may everywhere in their account. */
export async function readReach(
  rights: Rights,
  call: CallContext,
  action: Action,
  options?: RightsOptions,
): Promise<Reach> {
  if (call.userId === undefined) return reachesEverywhere;
  return reachOf(await rights.get(call, options), action);
}

/** Throws 403 unless the reach can include a table of this branch. */
export function requireReach(reach: Reach, action: Action, branchId: number): void {
  const open = !reach.closedBranchIds.includes(branchId) && (reach.everywhere || reach.domainIds.length > 0);
  if (!open && !reach.branchIds.includes(branchId) && reach.tableDefinitionIds.length === 0)
    throw missingRight(action, { branchId });
}
