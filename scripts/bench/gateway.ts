// What the gateway adds to a call: the same call at the data service, through the gateway, and through a proxy that does nothing but
// forward, in short slices that take turns. Over one connection for the latency, over many for the rate.
import { startBareProxy } from './bare/bare-side.ts';
import { connections, type Measured, type Pace, runSlice, type Side, type Slice, summary } from './compare.ts';
import type { Target } from './measuring/product.ts';
import type { Operation } from './operations.ts';

const sideNames = ['service', 'proxy', 'gateway'] as const;
type SideName = (typeof sideNames)[number];
export type Overhead = { name: string; together: number; measured: Record<SideName, Measured> };

type Given = {
  gateway: Target;
  service: Target;
  /** Process ids by name. */
  processes: Record<string, number>;
  operations: Operation[];
  pace: Pace;
};

/** Measures each operation over one connection and over many. */
export async function measureOverhead({ gateway, service, processes, operations, pace }: Given): Promise<Overhead[]> {
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, processes[name] as number]));
  const proxy = await startBareProxy(service);
  try {
    const sides: Record<SideName, Side> = {
      service: { target: service, processes: pick('data', 'postgres') },
      proxy: { target: proxy.target, processes: { proxy: proxy.pid, ...pick('data', 'postgres') } },
      gateway: { target: gateway, processes: pick('gateway', 'billing', 'data', 'postgres') },
    };
    const found: Overhead[] = [];
    for (const operation of operations)
      for (const together of [1, connections]) found.push(await measure(operation, sides, pace, together));
    return found;
  } finally {
    proxy.stop();
  }
}

async function measure(
  operation: Operation,
  sides: Record<SideName, Side>,
  { rounds, sliceSeconds, warmRequests }: Pace,
  together: number,
): Promise<Overhead> {
  let number = 0;
  const run = (name: SideName, requests: number) => {
    const from = number;
    number += requests;
    return runSlice(sides[name], (n) => operation.product(from + n), requests, together);
  };
  for (const name of sideNames) await run(name, warmRequests);
  const { perSecond } = await run('service', warmRequests);
  const requests = Math.max(300, Math.round(perSecond * sliceSeconds));
  const slices: Record<SideName, Slice[]> = { service: [], proxy: [], gateway: [] };
  for (let round = 0; round < rounds; round += 1)
    for (let place = 0; place < sideNames.length; place += 1) {
      const name = sideNames[(place + round) % sideNames.length] as SideName;
      slices[name].push(await run(name, requests));
    }
  return {
    name: operation.name,
    together,
    measured: { service: summary(slices.service), proxy: summary(slices.proxy), gateway: summary(slices.gateway) },
  };
}

const labels = {
  service: 'at the data service',
  proxy: 'through a bare proxy',
  gateway: 'through the gateway',
} as const;
const row = (cells: string[]) =>
  cells.map((cell, place) => (place === 0 ? cell.padEnd(21) : cell.padStart(10))).join('');

/** A table for each operation: what is measured, and what stands before the service adds to a call. */
export function tellOverhead(found: Overhead[], say: (text: string) => void): void {
  for (const { name, together, measured } of found) {
    say(`\n${name}, ${together === 1 ? 'one connection' : `${together} connections`}`);
    say(row(['', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms', '+ p50', '+ p99', '+ CPU']));
    for (const side of sideNames) {
      const { perSecond, p50, p99, cpu } = measured[side];
      const { service } = measured;
      const added = [p50 - service.p50, p99 - service.p99, ownCpu(measured[side])].map((ms) => ms.toFixed(3));
      const cells = [perSecond.toFixed(0), p50.toFixed(3), p99.toFixed(3), cpu.toFixed(3)];
      say(row([labels[side], ...cells, ...(side === 'service' ? [] : added)]));
    }
  }
}

// Of what stands before the service alone: the service's own varies more than that.
const ownCpu = ({ cpuOf: { proxy = 0, gateway = 0, billing = 0 } }: Measured) => proxy + gateway + billing;
