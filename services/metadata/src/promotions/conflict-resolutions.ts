// How people decide conflicts, and what is said of those that nobody has decided.
import { validationFailed } from '@almanac/service-kit/errors';
import type { Conflict, ConflictName, Decide, Resolution } from './table-merge.ts';

export type GivenResolution = ConflictName & { resolution: Resolution };

const isNamed = (name: ConflictName) => (other: ConflictName) =>
  other.table === name.table && other.column === name.column && other.attribute === name.attribute;

/** Decides conflicts as somebody has said. */
export const decideBy =
  (resolutions: GivenResolution[]): Decide =>
  (conflict) =>
    resolutions.find(isNamed(conflict))?.resolution;

/** The sentence for a resolution of what is no conflict. */
export const strangeSentence = (name: ConflictName): string => `There is no conflict about ${describeName(name)}`;

/** The sentence for a conflict that nobody has decided. */
export const openSentence = (conflict: Conflict): string =>
  `Conflict about ${describeName(conflict)}: ${describeSides(conflict)}`;

/** Throws 422 naming every conflict that is still open, and every resolution of what is none. */
export function refuseUnsettled(conflicts: Conflict[], resolutions: GivenResolution[]): void {
  const strange = resolutions.filter((given) => !conflicts.some(isNamed(given)));
  const open = conflicts.filter(({ resolution }) => resolution === null);
  const problems = [...strange.map(strangeSentence), ...open.map(openSentence)];
  if (problems.length > 0) throw validationFailed(problems);
}

const describeName = ({ table, column, attribute, row }: ConflictName) =>
  `${attribute} of ${column === null ? '' : `${column} of `}${table}${row ? ` ${described(row)}` : ''}`;

const described = (value: unknown) => [...JSON.stringify(value)].slice(0, 200).join('');
const describeSides = ({ base, source, target }: Conflict) =>
  `it was ${described(base)}, is ${described(source)} on the source and ${described(target)} on the target`;
