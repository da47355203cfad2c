// The place of a table, by which rights on it are decided.
import type { Where } from '@almanac/service-kit/rights/rights';

/** Where rights on a definition may come from. */
export function placeOf(definition: { id: number; domain_id: number; branch_id: number }): Where {
  return { tableDefinitionId: definition.id, domainId: definition.domain_id, branchId: definition.branch_id };
}
