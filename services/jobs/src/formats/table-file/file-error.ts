// What is wrong with a file that somebody sent: the import fails with this sentence, and nothing is tried again.
import { ServiceError } from '@almanac/service-kit/errors';

export function fileError(problems: string | string[], cause?: unknown): ServiceError {
  return new ServiceError('validation_failed', problems, cause === undefined ? {} : { cause });
}

/** Text of a file inside a message: bounded, and without control characters. */
export function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return JSON.stringify(short.toWellFormed());
}
