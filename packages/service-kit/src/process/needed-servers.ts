// Servers outside that a service starts without, but that its work waits for: the message bus, the
// object store. A service under a supervisor reports those that are away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../observability/logger.ts';
import { periodic } from './periodic.ts';
import { type NeededServer, report } from './reports.ts';

export type NeededServers = {
  /** `check` throws or answers false when the server can't be used. */
  add(name: NeededServer, check: () => Promise<unknown> | unknown): void;
  start(): Promise<void>;
  stop(): Promise<void>;
};

const everyMs = 2_000;
const answersWithinMs = 5_000;
// One failed check may be a reconnection.
const awayAfter = 2;

/** Nothing is checked until `start`, nor without a supervisor. */
export function watchNeededServers(logger: Logger): NeededServers {
  const checks = new Map<NeededServer, () => Promise<unknown> | unknown>();
  const failures = new Map<NeededServer, number>();
  let reported = '';
  const round = async () => {
    for (const [name, check] of checks) failures.set(name, (await passes(check)) ? 0 : (failures.get(name) ?? 0) + 1);
    const unavailable = [...checks.keys()].filter((name) => (failures.get(name) ?? 0) >= awayAfter);
    if (unavailable.join() === reported) return;
    reported = unavailable.join();
    await report({ unavailable });
  };
  const work = periodic({ name: 'needed servers', everyMs, logger, startsWith: 'pause', stopWithinMs: 0 }, round);
  return {
    add: (name, check) => void checks.set(name, check),
    start: async () => {
      if (process.send && checks.size > 0) await work.start();
    },
    stop: async () => {
      await work.stop();
    },
  };
}

async function passes(check: () => Promise<unknown> | unknown): Promise<boolean> {
  try {
    const late = sleep(answersWithinMs, false, { ref: false });
    return (await Promise.race([check(), late])) !== false;
  } catch {
    return false;
  }
}
