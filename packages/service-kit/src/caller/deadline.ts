// Deadlines: every call on behalf of another one has at most the time that the first has left, so
// no service works on an answer that would come too late. Between processes a deadline travels as
// the remaining time, never as a time of day.
import { ServiceError } from '../errors.ts';

/** The milliseconds that the gateway waits for the answer. The gateway drops it from clients. */
export const answerWithinHeader = 'x-almanac-answer-within';

/** `answerBy` is in milliseconds of `performance.now`; work without a waiting caller has none. */
export type Deadline = { answerBy?: number };

/** Reads the header; undefined when it is missing or malformed. */
export function readAnswerBy(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? performance.now() + Number(header) : undefined;
}

/** The milliseconds for a call on behalf of another: `most`, or less. Throws when none are left. */
export function timeLeft({ answerBy }: Deadline, most: number): number {
  if (answerBy === undefined) return most;
  const left = answerBy - performance.now();
  if (left <= 0) throw new ServiceError('unavailable', 'This took too long; try again.');
  return Math.min(most, left);
}
