// The rights that groups give a user, by place.

import type { Group } from '../queries.ts';
import { comparePlaces, type Place, writePlace } from '../rights/place.ts';
import type { Right } from '../rights/rights.ts';

export type GivenRights = {
  place: Place /** The groups that give each right. */;
  by: Partial<Record<Right, string[]>>;
};

/** Those of the widest places first. */
export function rightsOf(groups: readonly Group[], userId: number): GivenRights[] {
  const found = new Map<string, GivenRights>();
  for (const { name, members, permissions } of groups) {
    if (!members.some(({ id }) => id === userId)) continue;
    for (const { action, resource_type, resource_id } of permissions) {
      const place = { resource_type, resource_id };
      const given = found.get(writePlace(place)) ?? { place, by: {} };
      given.by[action] = [...(given.by[action] ?? []), name];
      found.set(writePlace(place), given);
    }
  }
  return [...found.values()].toSorted((one, other) => comparePlaces(one.place, other.place));
}
