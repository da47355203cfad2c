// Runs a service as a separate process, which a test can kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join, resolve } from 'node:path';
import { endProcess } from './end-process.ts';

const root = resolve(import.meta.dirname, '../../../..');
// Twelve at once on a busy machine have taken more than two minutes.
const readyWithinMs = 240_000;

/** Where the tests keep the compiled code of this root: stripping types takes a start a second. */
export const compiledCode = (from = root) => join(from, 'node_modules/.cache/almanac-tests');

/**
 * Starts the service with these environment variables only; then wait with `untilReady`. `from`:
 * the root of another version of the code (released-code.ts).
 */
export function spawnService(service: string, env: Record<string, string | undefined>, from = root): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `services/${service}/src/main.ts`], {
    cwd: from,
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, NODE_COMPILE_CACHE: compiledCode(from), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Resolves when the service is ready; throws when it ends first. */
export async function untilReady(service: string, child: ChildProcess): Promise<void> {
  const timeout = AbortSignal.timeout(readyWithinMs);
  const ended = once(child, 'exit', { signal: timeout }).then(() => {
    throw new Error(`${service} ended before it was ready.`);
  });
  const ready = (async () => {
    for await (const [message] of on(child, 'message', { signal: timeout })) if (message === 'ready') return;
  })();
  for (const each of [ended, ready]) each.catch(() => {}); // a later end is no failure
  await Promise.race([ready, ended]);
}

/** Ends the service, by default as a supervisor does, and waits for its exit. */
export async function endService(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  await endProcess(child, signal);
}
