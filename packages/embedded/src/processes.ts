// Tells whether a process is still the one that was meant: a process id alone may have been given to another since.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** When a process began, in the system's own notation; undefined when it can't be told. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]; // the name before may hold spaces
    }
    return ps(pid, 'lstart');
  } catch {
    return undefined;
  }
}

/** The command line of a process; empty when it can't be told. */
export function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return ps(pid, 'command') ?? '';
  } catch {
    return '';
  }
}

function ps(pid: number, field: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
}

/** Whether the process runs and, when its start is known, is the same one and not a later holder of the number. */
export function isRunning(pid: number, started?: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (process.platform === 'linux' && isZombie(pid)) return false;
  return started === undefined || startTimeOf(pid) === started;
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return true;
  }
}

/** Sends a signal; a process that is already gone is fine. */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until `condition` holds; answers false when it still doesn't after `timeoutMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 50,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
