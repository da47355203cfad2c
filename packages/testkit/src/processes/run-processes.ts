// The processes of one run of tests: all that inherit its folder for temporary files. A run that is
// interrupted ends them, so that no server of a test lives on.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isRunning, signal, waitUntil } from '@almanac/embedded/processes';

const stopWithinMs = 20_000;
const killWithinMs = 5_000;

/** The ids of the processes, except this one, whose TMPDIR is this folder or below it. */
export function processesIn(folder: string): number[] {
  const mark = `TMPDIR=${folder}`;
  return process.platform === 'linux' ? findInProc(mark) : findByPs(mark);
}

// A postmaster keeps its environment in /proc; its children don't, but end with it.
function findInProc(mark: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && pid !== process.pid && readEnvironment(pid).includes(mark) ? [pid] : [];
  });
}

function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // it has ended, or is another user's
  }
}

function findByPs(mark: string): number[] {
  if (process.platform === 'win32') return [];
  const lines = execFileSync('ps', ['eww', '-ax', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  const pids = lines.flatMap((line) => (line.includes(mark) ? [Number.parseInt(line, 10)] : []));
  return pids.filter((pid) => pid !== process.pid);
}

/**
 * Ends the processes of a run, and kills those that don't stop. SIGINT is what Node programs, and
 * PostgreSQL with clients, end by soonest.
 */
export async function endProcessesIn(folder: string): Promise<void> {
  const send = (name: NodeJS.Signals) => {
    for (const pid of processesIn(folder)) signal(pid, name);
  };
  const haveEnded = () => processesIn(folder).every((pid) => !isRunning(pid));
  send('SIGINT');
  if (await waitUntil(haveEnded, stopWithinMs)) return;
  send('SIGKILL');
  await waitUntil(haveEnded, killWithinMs);
}
