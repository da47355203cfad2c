// The rights of a group as they are ticked, and how that differs from what is saved.

import type { Group } from '../queries.ts';
import { comparePlaces, type Place, readPlace, writePlace } from '../rights/place.ts';
import { type Right, rights } from '../rights/rights.ts';

/** `edit@domain:3` */
export type Tick = string;

export type GivenRight = { right: Right; place: Place };

export function writeTick(right: Right, place: Place): Tick {
  return `${right}@${writePlace(place)}`;
}

function readTick(tick: Tick): GivenRight | undefined {
  const [name, text] = tick.split('@');
  const right = rights.find((each) => each === name);
  const place = readPlace(text);
  return right && place ? { right, place } : undefined;
}

/** The rights that the group has. */
export function ticksOf({ permissions }: Pick<Group, 'permissions'>): Set<Tick> {
  return new Set(permissions.map(({ action, ...place }) => writeTick(action, place)));
}

/** The places of the rights, the widest first. */
export function placesOf(ticks: Iterable<Tick>): Place[] {
  const places = [...ticks].flatMap((tick) => readTick(tick)?.place ?? []);
  const byText = new Map(places.map((place) => [writePlace(place), place]));
  return [...byText.values()].toSorted(comparePlaces);
}

export type PermissionChanges = { added: GivenRight[]; taken: GivenRight[] };

export function permissionChanges(saved: ReadonlySet<Tick>, ticked: ReadonlySet<Tick>): PermissionChanges {
  const only = (these: ReadonlySet<Tick>, others: ReadonlySet<Tick>) =>
    [...these]
      .filter((tick) => !others.has(tick))
      .flatMap((tick) => readTick(tick) ?? [])
      .toSorted((one, other) => comparePlaces(one.place, other.place));
  return { added: only(ticked, saved), taken: only(saved, ticked) };
}

/** The rights as the API takes them. */
export function toPermissions(ticks: Iterable<Tick>) {
  return [...ticks].flatMap((tick) => {
    const given = readTick(tick);
    return given ? [{ action: given.right, ...given.place }] : [];
  });
}
