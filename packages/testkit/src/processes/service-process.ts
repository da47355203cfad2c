// A service as a process of its own, to be killed as processes are.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { endProcess } from './end-process.ts';

const root = resolve(import.meta.dirname, '../../../..');
// Twelve at once, on a machine with other work, have taken more than two minutes.
const readyWithinMs = 240_000;

/** Starts it with these settings only; see `untilReady`. `from`: a folder of other code than this (released-code.ts). */
export function spawnService(service: string, env: Record<string, string | undefined>, from = root): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `services/${service}/src/main.ts`], {
    cwd: from,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Returns when it serves; throws when it has ended instead. */
export async function untilReady(service: string, child: ChildProcess): Promise<void> {
  const timeout = AbortSignal.timeout(readyWithinMs);
  const left = once(child, 'exit', { signal: timeout }).then(() => {
    throw new Error(`${service} ended before it was ready.`);
  });
  const said = once(child, 'message', { signal: timeout });
  left.catch(() => {}); // it will leave some day
  await Promise.race([said, left]);
}

/** Ends it, by default as a supervisor does, and waits until it has. */
export async function endService(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  await endProcess(child, signal);
}
