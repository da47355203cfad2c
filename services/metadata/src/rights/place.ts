// The place of a table: the table, domain and branch whose permissions apply to it.
import type { Where } from '@almanac/service-kit/rights/rights';

export function placeOf(definition: { id: number; domain_id: number; branch_id: number }): Where {
  return { tableDefinitionId: definition.id, domainId: definition.domain_id, branchId: definition.branch_id };
}
