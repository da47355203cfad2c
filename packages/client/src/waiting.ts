// Waiting: sleeps that a signal ends, and polling.

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

/** Waits for shared work: the signal ends only this wait, not the work. */
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
  /** Called with each state. */
  onProgress?: (state: T) => void;
  /** The longest delay between two polls; default 5,000 ms. Each poll is a counted call. */
  everyMs?: number;
};

const firstDelayMs = 250;
const maxDelayMs = 5_000;

/** Polls with growing delays until `isOver` or the signal aborts. It has no time-out. */
export async function until<T>(
  read: () => Promise<T>,
  isOver: (state: T) => boolean,
  { signal, onProgress, everyMs = maxDelayMs }: WaitOptions<T>,
): Promise<T> {
  for (let wait = Math.min(firstDelayMs, everyMs); ; wait = Math.min(everyMs, wait * 1.6)) {
    const state = await read();
    onProgress?.(state);
    if (isOver(state)) return state;
    await pause(wait, signal);
  }
}
