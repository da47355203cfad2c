// What a piece of work costs the processes that take part: CPU time, and the memory at its most.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpuOf, parentOf, residentOf } from './processes.ts';

/** MB: resident before the work, and the most while it ran. */
export type Memory = { base: number; peak: number };
/** CPU in milliseconds by process; `helpers` are processes that jobs starts for some formats. */
export type Cost = { cpu: Record<string, number>; memory: Record<string, Memory> };

const lookEveryMs = 50;
const withMemory = ['jobs', 'data', 'gateway'] as const;

/** Runs the work and watches. Short-lived helpers are seen as often as a look falls on them; services are measured by Linux itself. */
export async function watch<T>(
  processes: Record<string, number>,
  work: () => Promise<T>,
): Promise<{ result: T; cost: Cost }> {
  const services = withMemory.map((name) => ({ name, pid: processes[name] as number }));
  const cpuOfAll = () => Object.entries(processes).map(([name, pid]) => [name, cpuOf(pid)] as const);
  const before = Object.fromEntries(cpuOfAll());
  const memory: Record<string, Memory> = {};
  for (const { name, pid } of services) {
    resetPeak(pid);
    memory[name] = { base: residentOf(pid), peak: 0 };
  }
  const jobs = processes.jobs as number;
  let helpers = 0;
  const look = setInterval(() => {
    helpers = Math.max(helpers, sumOfChildren(jobs));
  }, lookEveryMs);
  try {
    const result = await work();
    for (const { name, pid } of services) (memory[name] as Memory).peak = peakOf(pid);
    if (helpers > 0) memory.helpers = { base: 0, peak: helpers };
    const cpu = Object.fromEntries(cpuOfAll().map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
    return { result, cost: { cpu, memory } };
  } finally {
    clearInterval(look);
  }
}

function sumOfChildren(pid: number): number {
  let sum = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || parentOf(Number(name)) !== pid) continue;
    try {
      sum += residentOf(Number(name)) || 0; // one that is ending has none
    } catch {
      // it has ended
    }
  }
  return sum;
}

// Linux forgets the most it has seen when it is told so (proc(5), clear_refs).
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

function peakOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

/** By how much the process grew that grew most, in MB. */
export const mostGrowth = ({ memory }: Cost): number =>
  Math.max(...Object.values(memory).map(({ base, peak }) => peak - base));

/** The processes that used CPU worth telling, in seconds. */
export const tellCpu = ({ cpu }: Cost): string =>
  Object.entries(cpu)
    .filter(([, ms]) => ms >= 50)
    .map(([name, ms]) => `${name} ${(ms / 1_000).toFixed(1)}`)
    .join(', ');

/** Base and peak of each process. */
export const tellMemory = ({ memory }: Cost): string =>
  Object.entries(memory)
    .map(
      ([name, { base, peak }]) => `${name} ${base.toFixed(0)} → ${peak.toFixed(0)} MB (+${(peak - base).toFixed(0)})`,
    )
    .join(', ');
