// How people decide conflicts, and what is said of those that nobody has decided.
import { validationFailed } from '@almanac/service-kit/errors';
import type { Conflict, ConflictName, Decide, Resolution } from './table-merge.ts';

export type GivenResolution = ConflictName & { resolution: Resolution };

const nameOf = ({ table, column, attribute }: ConflictName) => JSON.stringify([table, column, attribute]);

/** Decides conflicts as somebody has said; of two that decide the same, the first counts. */
export function decideBy(resolutions: GivenResolution[]): Decide {
  const byName = new Map(resolutions.toReversed().map((given) => [nameOf(given), given.resolution]));
  return (conflict) => byName.get(nameOf(conflict));
}

/** The sentence for a resolution of what is no conflict. */
export const unmatchedSentence = (name: ConflictName): string => `There is no conflict about ${describeName(name)}`;

/** The sentence for a conflict that nobody has decided. */
export const openSentence = (conflict: Conflict): string =>
  `Conflict about ${describeName(conflict)}: ${describeSides(conflict)}`;

/** Throws 422 naming every conflict that is still open, and every resolution of what is none. */
export function requireResolved(conflicts: Conflict[], resolutions: GivenResolution[]): void {
  const names = new Set(conflicts.map(nameOf));
  const strange = resolutions.filter((given) => !names.has(nameOf(given)));
  const open = conflicts.filter(({ resolution }) => resolution === null);
  const problems = [...strange.map(unmatchedSentence), ...open.map(openSentence)];
  if (problems.length > 0) throw validationFailed(problems);
}

const describeName = ({ table, column, attribute, row }: ConflictName) =>
  `${attribute} of ${column === null ? '' : `${column} of `}${table}${row ? ` ${described(row)}` : ''}`;

const described = (value: unknown) => [...JSON.stringify(value)].slice(0, 200).join('');
const describeSides = ({ base, source, target }: Conflict) =>
  `it was ${described(base)}, is ${described(source)} on the source and ${described(target)} on the target`;
