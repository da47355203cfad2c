// CPU time and memory of processes, read from Linux' /proc.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

type Stat = { parent: number; own: number; reaped: number };

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may have spaces. utime, stime, cutime and cstime are the fields 14 to
    // 17.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ms = (...places: number[]) =>
      (places.reduce((sum, place) => sum + Number(fields[place - 3]), 0) * 1_000) / ticksPerSecond;
    return { parent: Number(fields[1]), own: ms(14, 15), reaped: ms(16, 17) };
  } catch {
    return undefined; // it has ended
  }
}

const allPids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Milliseconds of CPU of a process alone; undefined when it has ended. */
export const ownCpuOf = (pid: number): number | undefined => readStat(pid)?.own;

/** Milliseconds of CPU of a process and its children, also of ended ones. */
export function cpuOf(pid: number): number {
  const stat = readStat(pid);
  if (!stat) throw new Error(`The process ${pid} has ended.`);
  const children = allPids()
    .map(readStat)
    .filter((child) => child?.parent === pid);
  return stat.own + stat.reaped + children.reduce((sum, child) => sum + (child as Stat).own, 0);
}

/** The parent of a process; undefined when it has ended. */
export const parentOf = (pid: number): number | undefined => readStat(pid)?.parent;

/** A process and all processes below it. */
export function descendantsOf(pid: number): number[] {
  const parents = allPids().map((id) => [id, readStat(id)?.parent] as const);
  const below = (id: number): number[] => [
    id,
    ...parents.filter(([, parent]) => parent === id).flatMap(([child]) => below(child)),
  ];
  return below(pid);
}

/** What a process is: the service, `postgres`, or else its program. */
export function nameOf(pid: number): string {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  if (/^postgres:|\/postgres /.test(command)) return 'postgres';
  return /([\w-]+)[.][jt]s\b/.exec(command)?.[1] ?? command.slice(0, 20);
}

/** The memory of a process, shared pages divided among those that share them (PSS), in MB. */
export function memoryShareOf(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

/** The resident memory of a process, in MB. */
export function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}
