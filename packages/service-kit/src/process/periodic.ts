// Work that a service repeats for as long as it runs: sweeps, reconciliation, reports.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../observability/logger.ts';
import type { Part } from './part.ts';

type Options = {
  /** The name of the part, and of the work in the log. */
  name: string;
  /** From the end of a round to the beginning of the next. */
  everyMs: number;
  logger: Pick<Logger, 'warn'>;
  /** Whether the first round begins at the start, or after the first pause. */
  startsWith?: 'round' | 'pause';
  /** How long a stop waits for the round that is running; without it, until that has ended. */
  stopWithinMs?: number;
};

/**
 * A part that runs `work`, round after round, never two at once, until it is stopped. A round that
 * fails is logged, and the next one comes as usual.
 */
export function periodic(
  { name, everyMs, logger, startsWith = 'round', stopWithinMs }: Options,
  work: (signal: AbortSignal) => Promise<unknown>,
): Part & { start(): Promise<void>; stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;
  const pause = () => sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
  const run = async () => {
    if (startsWith === 'pause') await pause();
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) =>
        logger.warn({ err: error, work: name }, 'a round of periodic work failed; the next one tries again'),
      );
      await pause();
    }
  };
  return {
    name,
    async start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      const ends = stopWithinMs === undefined ? [] : [sleep(stopWithinMs, undefined, { ref: false })];
      await Promise.race([running, ...ends]);
    },
  };
}
