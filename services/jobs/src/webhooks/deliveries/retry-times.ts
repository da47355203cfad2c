// When a message that was not taken is sent again.

/** How long a message is tried, and how long an endpoint may fail before it is switched off. */
export const triedForDays = 3;
const longestPauseMs = 4 * 3_600_000;

/**
 * The pause after an attempt, counted from 1: it doubles from five times `retryMs` up to four
 * hours. Longer, up to four hours, when the receiver asks for `askedMs`. Up to a tenth more, so
 * that messages that failed together don't come back together.
 */
export function pauseAfter(attempt: number, retryMs: number, askedMs = 0, random = Math.random()): number {
  const pause = Math.min(Math.max(5 * retryMs * 2 ** Math.min(attempt - 1, 30), askedMs), longestPauseMs);
  return Math.round(pause * (1 + random / 10));
}
