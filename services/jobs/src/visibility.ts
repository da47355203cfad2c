// Where a caller's rights reach, for lists and for what isn't about one table.
import type { CallContext } from '@almanac/service-kit/call-context';
import { type Action, allows, missingRight, type Permission, type Rights } from '@almanac/service-kit/rights';

export type Reach = { everywhere: boolean; domainIds: number[]; branchIds: number[]; tableDefinitionIds: number[] };

const everywhere: Reach = { everywhere: true, domainIds: [], branchIds: [], tableDefinitionIds: [] };

const placeOf = (permission: Permission) => ({
  domainId: permission.resource_id,
  branchId: permission.resource_id,
  tableDefinitionId: permission.resource_id,
});

/** The places where the caller may do it. Machines reach everywhere in their account. */
export async function readReach(rights: Rights, call: CallContext, action: Action): Promise<Reach> {
  if (call.userId === undefined) return everywhere;
  const { license_type, permissions } = await rights.get(call);
  const granting = permissions.filter((one) => allows({ license_type, permissions: [one] }, action, placeOf(one)));
  const idsOf = (type: string) =>
    granting.filter(({ resource_type }) => resource_type === type).map(({ resource_id }) => resource_id);
  return {
    everywhere: granting.some(({ resource_type }) => resource_type === 'account'),
    domainIds: idsOf('domain'),
    branchIds: idsOf('branch'),
    tableDefinitionIds: idsOf('table_definition'),
  };
}

/** Throws 403 unless the caller may do it to some table that can be on this branch. */
export async function requireReach(rights: Rights, call: CallContext, action: Action, branchId: number): Promise<void> {
  const reach = await readReach(rights, call, action);
  const reaches = reach.everywhere || reach.branchIds.includes(branchId);
  if (!reaches && reach.domainIds.length === 0 && reach.tableDefinitionIds.length === 0)
    throw missingRight(action, { branchId });
}
