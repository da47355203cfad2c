// The resources of a process, as Linux reports them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Its open sockets. */
export function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      return false; // closed during this
    }
  }).length;
}

/** Its memory, in MB. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

/** Milliseconds of CPU by process id. */
export type Cpu = Map<number, number>;

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of these processes and their children so far. */
export function readCpu(pids: number[]): Cpu {
  const found: Cpu = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name before may hold spaces. Then: state, ppid, and utime and stime, the fields 14 and
      // 15.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (!pids.includes(Number(name)) && !pids.includes(Number(fields[1]))) continue;
      found.set(Number(name), ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond);
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** CPU time between two readings, except for processes that ended in between. */
export function cpuBetween(before: Cpu, after: Cpu): number {
  let sum = 0;
  for (const [pid, milliseconds] of after) sum += milliseconds - (before.get(pid) ?? 0);
  return sum;
}
