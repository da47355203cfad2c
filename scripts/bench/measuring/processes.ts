// What processes cost, as Linux tells it: CPU time and memory.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

type Stat = { parent: number; own: number; reaped: number };

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before may hold spaces. Then: state, ppid, …; utime, stime, cutime and cstime are the fields 14 to 17.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ms = (...places: number[]) =>
      (places.reduce((sum, place) => sum + Number(fields[place - 3]), 0) * 1_000) / ticksPerSecond;
    return { parent: Number(fields[1]), own: ms(14, 15), reaped: ms(16, 17) };
  } catch {
    return undefined; // it has ended
  }
}

/** Milliseconds of CPU that a process has used so far, with those of its children, also of children that have ended. */
export function cpuOf(pid: number): number {
  const stat = readStat(pid);
  if (!stat) throw new Error(`The process ${pid} has gone.`);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = pids.map((name) => readStat(Number(name))).filter((child) => child?.parent === pid);
  return stat.own + stat.reaped + children.reduce((sum, child) => sum + (child as Stat).own, 0);
}

/** Whose child the process is; undefined when it has ended. */
export const parentOf = (pid: number): number | undefined => readStat(pid)?.parent;

/** The memory a process holds now, in MB. */
export function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}
