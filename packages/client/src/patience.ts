// Waiting: pauses that a signal ends, and asking again until something is so.

/** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Waits for what others wait for too: a signal ends only this waiting. */
export function waitFor<T>(work: Promise<T>, signal?: AbortSignal | null): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export type WaitOptions<T> = {
  signal?: AbortSignal;
  /** Told of each state that was seen. */
  onProgress?: (seen: T) => void;
  /** The longest pause between two looks; 5,000 ms unless told. Each look is a counted call. */
  everyMs?: number;
};

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** Looks again, with growing pauses, until `isOver`. Waits as long as it takes; a signal ends it. */
export async function until<T>(
  look: () => Promise<T>,
  isOver: (seen: T) => boolean,
  { signal, onProgress, everyMs = longestPauseMs }: WaitOptions<T>,
): Promise<T> {
  for (let wait = Math.min(firstPauseMs, everyMs); ; wait = Math.min(everyMs, wait * 1.6)) {
    const seen = await look();
    onProgress?.(seen);
    if (isOver(seen)) return seen;
    await pause(wait, signal);
  }
}
