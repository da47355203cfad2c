// An error in a file that was sent: the import fails with this message and is not retried.
import { ServiceError } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';

/** A 422 with the problems of a file, a sentence each. */
export function fileError(sentences: string | string[], cause?: unknown): ServiceError {
  const problems = [sentences].flat().map((message): Problem => ({ code: 'invalid_file', message }));
  return new ServiceError('validation_failed', problems, cause === undefined ? {} : { cause });
}

/** Text of a file for a message: bounded, without control characters. */
export function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return JSON.stringify(short.toWellFormed());
}
