// Waits for a condition, within a limit: tests never sleep for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises';

type Options = {
  withinMs?: number;
  everyMs?: number;
  /** Failures after which another try can't succeed. */
  isFinal?: (error: unknown) => boolean;
};

/**
 * Calls `check` until it no longer throws; answers its result, or throws its last failure. The
 * limit suits a busy machine: only a failing test takes that long.
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
