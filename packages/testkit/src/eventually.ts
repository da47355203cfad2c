// Waiting for a condition, bounded: tests never sleep for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises';

/** Tries `check` until it stops throwing and answers its result; gives up with its last failure. */
export async function eventually<T>(check: () => Promise<T> | T, { withinMs = 20_000, everyMs = 25 } = {}): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await sleep(everyMs);
    }
  }
}
