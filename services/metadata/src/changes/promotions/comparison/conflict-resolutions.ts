// Resolutions of conflicts, and the messages about open conflicts and unmatched resolutions.
import { validationFailed } from '@almanac/service-kit/errors';
import type { Conflict, ConflictName, Decide, Resolution } from './table-merge.ts';

export type GivenResolution = ConflictName & { resolution: Resolution };

const nameOf = ({ table, column, attribute }: ConflictName) => JSON.stringify([table, column, attribute]);

/** Decides conflicts by their resolutions; the first one for a conflict counts. */
export function decideBy(resolutions: GivenResolution[]): Decide {
  const byName = new Map(resolutions.toReversed().map((given) => [nameOf(given), given.resolution]));
  return (conflict) => byName.get(nameOf(conflict));
}

/** The sentence about a resolution that matches no conflict. */
export const unmatchedSentence = (name: ConflictName): string => `There is no conflict about ${describeName(name)}`;

/** The sentence about an open conflict. */
export const openSentence = (conflict: Conflict): string =>
  `Conflict about ${describeName(conflict)}: ${describeSides(conflict)}`;

/** Throws 422 naming every open conflict, and every resolution that matches none. */
export function requireResolved(conflicts: Conflict[], resolutions: GivenResolution[]): void {
  const names = new Set(conflicts.map(nameOf));
  const unmatched = resolutions.filter((given) => !names.has(nameOf(given)));
  const open = conflicts.filter(({ resolution }) => resolution === null);
  const problems = [...unmatched.map(unmatchedSentence), ...open.map(openSentence)];
  if (problems.length > 0) throw validationFailed(problems);
}

const describeName = ({ table, column, attribute, row }: ConflictName) =>
  `${attribute} of ${column === null ? '' : `${column} of `}${table}${row ? ` ${described(row)}` : ''}`;

const described = (value: unknown) => [...JSON.stringify(value)].slice(0, 200).join('');
const describeSides = ({ base, source, target }: Conflict) =>
  `it was ${described(base)}, is ${described(source)} on the source and ${described(target)} on the target`;
