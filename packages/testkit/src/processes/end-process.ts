// Ends processes within a limit: a test that fails says more than one that hangs.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const killAfterMs = 60_000;

/**
 * Ends a process with the signal and waits for its exit; kills it after `withinMs`. Answers its
 * exit code, which is null when a signal ended it.
 */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals,
  withinMs = killAfterMs,
): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return child.exitCode;
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const [code] = await ended;
  clearTimeout(timer);
  return code;
}
