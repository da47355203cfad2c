// Where a caller's rights reach, for lists and for what isn't about one table.
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

/** The places where the caller may do it. Machines reach everywhere in their account. */
export async function readReach(
  rights: Rights,
  call: CallContext,
  action: Action,
  options?: RightsOptions,
): Promise<Reach> {
  if (call.userId === undefined) return reachesEverywhere;
  return reachOf(await rights.get(call, options), action);
}

/** Throws 403 unless the reach of the action has some table that can be on this branch. */
export function requireReach(reach: Reach, action: Action, branchId: number): void {
  const open = !reach.closedBranchIds.includes(branchId) && (reach.everywhere || reach.domainIds.length > 0);
  if (!open && !reach.branchIds.includes(branchId) && reach.tableDefinitionIds.length === 0)
    throw missingRight(action, { branchId });
}
