// Measures how late the event loop of this process is, with Node's own monitor, at no cost for
// calls.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { eventLoopSampleMs } from '../observability/metrics.ts';

export type EventLoop = {
  /** True when the loop was late on average for a second. One long task alone doesn't count. */
  isLate(): boolean;
  stop(): void;
};

const sampleEveryMs = 500;
const lateSamples = 2;

/** Monitors the event loop from now on; it is late when its mean delay exceeds `limitMs`. */
export function watchEventLoop(limitMs: number): EventLoop {
  const delays = monitorEventLoopDelay({ resolution: eventLoopSampleMs });
  delays.enable();
  let samplesInARow = 0;
  const timer = setInterval(() => {
    // Node's delays include the time between two samples.
    samplesInARow = delays.mean / 1e6 - eventLoopSampleMs > limitMs ? samplesInARow + 1 : 0;
    delays.reset();
  }, sampleEveryMs);
  timer.unref();
  return {
    isLate: () => samplesInARow >= lateSamples,
    stop: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}
