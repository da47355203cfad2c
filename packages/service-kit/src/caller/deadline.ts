// How long a call may still take, carried from who waits for it to all that is asked on its behalf: nobody works for an answer that
// comes too late (fault R41). Between processes it travels as time that is left, never as a time of day.
import { ServiceError } from '../errors.ts';

/** How many milliseconds the gateway waits for the answer; only it may say so. */
export const answerWithinHeader = 'x-almanac-answer-within';

/** When the answer to a call is due, in milliseconds of `performance.now`; left out when nobody waits for it. */
export type Due = { answerBy?: number };

/** Reads the header; undefined when it isn't there or is no time. */
export function readAnswerBy(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? performance.now() + Number(header) : undefined;
}

/** How many milliseconds what is asked for a call may take: `most`, or what the call itself has left. Throws `unavailable` when that is nothing. */
export function timeLeft({ answerBy }: Due, most: number): number {
  if (answerBy === undefined) return most;
  const left = answerBy - performance.now();
  if (left <= 0) throw new ServiceError('unavailable', 'This took too long; try again.');
  return Math.min(most, left);
}
