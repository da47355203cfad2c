// Resolutions of conflicts, and the messages about open conflicts and unmatched resolutions.
import { validationFailed } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import type { Conflict, ConflictName, Decide, Resolution } from './table-merge.ts';

export type GivenResolution = ConflictName & { resolution: Resolution };

const nameOf = ({ table, column, attribute }: ConflictName) => JSON.stringify([table, column, attribute]);

/** Decides conflicts by their resolutions; the first one for a conflict counts. */
export function decideBy(resolutions: GivenResolution[]): Decide {
  const byName = new Map(resolutions.toReversed().map((given) => [nameOf(given), given.resolution]));
  return (conflict) => byName.get(nameOf(conflict));
}

/** The problem of a resolution that matches no conflict. */
export const unmatchedProblem = (name: ConflictName): Problem => ({
  code: 'invalid_reference',
  message: `There is no conflict about ${describeName(name)}`,
  field: 'resolutions',
  params: nameParams(name),
});

/** The problem of an open conflict. */
export const openProblem = (conflict: Conflict): Problem => ({
  code: 'merge_conflict',
  message: `Conflict about ${describeName(conflict)}: ${describeSides(conflict)}`,
  params: nameParams(conflict),
});

// As `resolutions` and `conflicts` name it. The texts of a row may be as long as a body.
const nameParams = ({ table, column, attribute, row }: ConflictName) => ({
  table,
  column,
  attribute,
  ...(row && { row: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cut(value)])) }),
});

/** Throws 422 naming every open conflict, and every resolution that matches none. */
export function requireResolved(conflicts: Conflict[], resolutions: GivenResolution[]): void {
  const names = new Set(conflicts.map(nameOf));
  const unmatched = resolutions.filter((given) => !names.has(nameOf(given)));
  const open = conflicts.filter(({ resolution }) => resolution === null);
  const problems = [...unmatched.map(unmatchedProblem), ...open.map(openProblem)];
  if (problems.length > 0) throw validationFailed(problems);
}

const describeName = ({ table, column, attribute, row }: ConflictName) =>
  `${attribute} of ${column === null ? '' : `${column} of `}${table}${row ? ` ${described(row)}` : ''}`;

const shownCharacters = 200;
const cut = (value: unknown) => (typeof value === 'string' ? [...value].slice(0, shownCharacters).join('') : value);
const described = (value: unknown) => cut(JSON.stringify(value));
const describeSides = ({ base, source, target }: Conflict) =>
  `it was ${described(base)}, is ${described(source)} on the source and ${described(target)} on the target`;
