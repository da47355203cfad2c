// For which side conflicts are decided: each of its own, or all of a table at once.
import type { Schemas } from '../../api/client.ts';

export type Conflict = Schemas['Conflict'];
type Resolution = Schemas['ConflictResolution'];
export type Side = Resolution['resolution'];

/** Resolutions by their places. */
export type Choices = Readonly<Record<string, Resolution>>;

export const none: Choices = {};

type Place = Omit<Resolution, 'resolution'>;

/** The place that a conflict is at. */
export function placeOf({ table, column, attribute, row }: Conflict): Place {
  return { table, column, attribute, ...(row && { row: row as NonNullable<Place['row']> }) };
}

/** All conflicts of rows of the table, of one kind. */
export function allOf({ table, attribute }: Conflict): Place {
  return { table, column: null, attribute };
}

/** Decides the conflicts at a place. A choice for all replaces those that were made singly. */
export function choose(choices: Choices, place: Place, side: Side): Choices {
  const isReplaced = (one: Place) => isForAll(place) && one.table === place.table && one.attribute === place.attribute;
  const kept = Object.entries(choices).filter(([, one]) => !isReplaced(one));
  return { ...Object.fromEntries(kept), [idOf(place)]: { ...place, resolution: side } };
}

/** The side that a conflict is decided for; one that is decided singly takes precedence. */
export function sideOf(choices: Choices, conflict: Conflict): Side | undefined {
  const own = choices[idOf(placeOf(conflict))] ?? (conflict.row && choices[idOf(allOf(conflict))]);
  return own?.resolution;
}

/** The conflicts that are not decided yet. */
export function undecided(choices: Choices, conflicts: readonly Conflict[]): Conflict[] {
  return conflicts.filter((conflict) => sideOf(choices, conflict) === undefined);
}

/** The name of a place, the same in whatever order the columns of its row are. */
export function idOf({ table, column, attribute, row }: Place): string {
  const key = row ? Object.entries(row).toSorted(([one], [other]) => one.localeCompare(other)) : null;
  return JSON.stringify([table, column, attribute, key]);
}

const rowAttributes = ['value', 'row'];
const isForAll = ({ attribute, row }: Place) => row === undefined && rowAttributes.includes(attribute);
