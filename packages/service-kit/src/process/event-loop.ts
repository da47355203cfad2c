// Whether this process gets to do its work: how late its event loop comes round, as the platform measures it, so no call pays for it.
import { monitorEventLoopDelay } from 'node:perf_hooks';

export type EventLoop = {
  /** True while the loop has been late on average for a second: one long piece of work is none of it. */
  isLate(): boolean;
  stop(): void;
};

const lookEveryMs = 500;
const lateLooks = 2;

/** Watches the loop of this process from now on; `limitMs` is the mean delay beyond which it is late. */
export function watchEventLoop(limitMs: number): EventLoop {
  const delays = monitorEventLoopDelay({ resolution: 20 });
  delays.enable();
  let looksInARow = 0;
  const timer = setInterval(() => {
    looksInARow = delays.mean / 1e6 > limitMs ? looksInARow + 1 : 0;
    delays.reset();
  }, lookEveryMs);
  timer.unref();
  return {
    isLate: () => looksInARow >= lateLooks,
    stop: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}
