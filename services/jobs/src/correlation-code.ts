// The caller's own label of an import or export.
import { randomUUID } from 'node:crypto';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';

const field = 'correlation_code';

/** Checks a given code: any text up to 255 characters. Without one, a new code is generated. */
export function readCorrelationCode(given: string | null | undefined): string {
  if (given === undefined || given === null) return randomUUID();
  const maximum = limits.nameCodePoints;
  const problems: Problem[] = [];
  if (given.trim() === '') problems.push({ code: 'blank', message: "Correlation code can't be blank", field });
  if ([...given].length > maximum) {
    const message = `Correlation code is too long (maximum is ${maximum} characters)`;
    problems.push({ code: 'too_long', message, field, params: { maximum } });
  }
  if (problems.length > 0) throw validationFailed(problems);
  return given;
}
