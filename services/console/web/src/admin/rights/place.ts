// A place where a right is held, as an address and a form have it: `domain:3`.
import type { Schemas } from '../../api/client.ts';

export type PlaceKind = Schemas['GroupPermission']['resource_type'];
export type Place = { resource_type: PlaceKind; resource_id: number };

/** From the widest to the narrowest. */
export const placeKinds = ['account', 'domain', 'branch', 'table_definition'] as const satisfies PlaceKind[];

export function writePlace({ resource_type, resource_id }: Place): string {
  return `${resource_type}:${resource_id}`;
}

/** Undefined for what is no place. */
export function readPlace(text: string | undefined): Place | undefined {
  const [kind, id] = (text ?? '').split(':');
  const resource_type = placeKinds.find((each) => each === kind);
  const resource_id = Number(id);
  return resource_type && Number.isSafeInteger(resource_id) && resource_id > 0
    ? { resource_type, resource_id }
    : undefined;
}

/** Wider places first. */
export function comparePlaces(one: Place, other: Place): number {
  const byKind = placeKinds.indexOf(one.resource_type) - placeKinds.indexOf(other.resource_type);
  return byKind || one.resource_id - other.resource_id;
}
