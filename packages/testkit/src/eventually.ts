// Waiting for a condition, bounded: tests never sleep for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises';

type Options = {
  withinMs?: number;
  everyMs?: number;
  /** A failure after which trying again is in vain. */
  isFinal?: (error: unknown) => boolean;
};

/**
 * Tries `check` until it stops throwing and answers its result; gives up with its last failure. The time is for a machine that
 * does much else: only a failure takes all of it.
 */
export async function eventually<T>(
  check: () => Promise<T> | T,
  { withinMs = 60_000, everyMs = 25, isFinal = () => false }: Options = {},
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= deadline || isFinal(error)) throw error;
      await sleep(everyMs);
    }
  }
}
