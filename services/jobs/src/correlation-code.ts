// The caller's own label of an import or export.
import { randomUUID } from 'node:crypto';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';

/** Checks a given code: any text up to 255 characters. Without one, a new code is generated. */
export function readCorrelationCode(given: string | null | undefined): string {
  if (given === undefined || given === null) return randomUUID();
  const problems = [
    ...(given.trim() === '' ? ["Correlation code can't be blank"] : []),
    ...([...given].length > limits.nameCodePoints
      ? [`Correlation code is too long (maximum is ${limits.nameCodePoints} characters)`]
      : []),
  ];
  if (problems.length > 0) throw validationFailed(problems);
  return given;
}
