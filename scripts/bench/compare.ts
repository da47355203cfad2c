// Measures an operation through the gateway, at the data service and at the bare server, in short slices that take turns: what else
// the machine does falls on all of them. Each slice of the product has one of the bare server beside it, with as many requests.
import { writeRequest } from './measuring/connection.ts';
import { runLoad } from './measuring/load.ts';
import { cpuOf } from './measuring/processes.ts';
import type { Target } from './measuring/product.ts';
import { median, quantile } from './measuring/quantiles.ts';
import type { Operation, Request } from './operations.ts';

/** A server under comparison, and the processes that take part when it answers. */
export type Side = { target: Target; processes: Record<string, number> };
export type Sides = { gateway: Side; service: Side; bare: Side };

export type Measured = {
  perSecond: number;
  p50: number;
  p99: number;
  /** Milliseconds of CPU for each request: of all processes involved, and of each. */
  cpu: number;
  cpuOf: Record<string, number>;
};
/** `perSecond`, `cpu`: of a perfect product these would be 1. */
type Ratios = { perSecond: number; cpu: number };
export type Comparison = {
  name: string;
  measured: Record<keyof Sides, Measured>;
  ratios: Record<'gateway' | 'service', Ratios>;
};

export const connections = 16;
export type Slice = { perSecond: number; times: number[]; cpu: number; cpuOf: Record<string, number> };

/**
 * `warmRequests`: sent to each side before anything is measured. V8 compiles what runs often bit by bit: a grid page costs the data service
 * half as much after 30,000 calls as in the beginning, and the bare server, which has little to compile, is done after a few thousand.
 */
export type Pace = { rounds: number; sliceSeconds: number; warmRequests: number };

const warmRounds = 3;

/** Compares one operation; the numbers of its requests go on from slice to slice. */
export async function compare(
  operation: Operation,
  sides: Sides,
  { rounds, sliceSeconds, warmRequests }: Pace,
): Promise<Comparison> {
  const numbers = { product: 0, bare: 0 };
  const run = (name: keyof Sides, requests: number) => {
    const of = name === 'bare' ? 'bare' : 'product';
    const from = numbers[of];
    numbers[of] += requests;
    return runSlice(sides[name], (number) => operation[of](from + number), requests);
  };
  let bareRate = 0;
  const warmAtOnce = Math.ceil(warmRequests / warmRounds);
  for (let warming = 0; warming < warmRounds; warming += 1) {
    for (const name of ['gateway', 'service'] as const) await run(name, warmAtOnce);
    bareRate = (await run('bare', warmAtOnce)).perSecond;
  }
  const requests = Math.max(300, Math.round(bareRate * sliceSeconds));
  const slices: Record<keyof Sides, Slice[]> = { gateway: [], service: [], bare: [] };
  const ratios: Record<'gateway' | 'service', Ratios[]> = { gateway: [], service: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const name of ['gateway', 'service'] as const) {
      const bareFirst = round % 2 === 1;
      const before = bareFirst ? await run('bare', requests) : undefined;
      const own = await run(name, requests);
      const bare = before ?? (await run('bare', requests));
      slices[name].push(own);
      slices.bare.push(bare);
      ratios[name].push({ perSecond: own.perSecond / bare.perSecond, cpu: bare.cpu / own.cpu });
    }
  return {
    name: operation.name,
    measured: { gateway: summary(slices.gateway), service: summary(slices.service), bare: summary(slices.bare) },
    ratios: { gateway: middle(ratios.gateway), service: middle(ratios.service) },
  };
}

/** Sends so many requests and answers what they took; `together`: over so many connections. */
export async function runSlice(
  { target, processes }: Side,
  ask: (n: number) => Request,
  requests: number,
  together = connections,
): Promise<Slice> {
  const headers = await target.headers();
  const host = `127.0.0.1:${target.port}`;
  const write = (number: number) => {
    const { method, path, body } = ask(number);
    return writeRequest(method, path, { host, headers, body });
  };
  const readAll = () => Object.entries(processes).map(([name, pid]) => [name, cpuOf(pid)] as const);
  const before = Object.fromEntries(readAll());
  const { times, seconds } = await runLoad({ port: target.port, connections: together, write, requests });
  const cpuOfEach = readAll().map(([name, ms]) => [name, (ms - (before[name] as number)) / requests] as const);
  return {
    perSecond: requests / seconds,
    times,
    cpu: cpuOfEach.reduce((sum, [, ms]) => sum + ms, 0),
    cpuOf: Object.fromEntries(cpuOfEach),
  };
}

/** Medians over the slices; quantiles over all their requests. */
export function summary(slices: Slice[]): Measured {
  const times = slices.flatMap((slice) => slice.times);
  const names = Object.keys((slices[0] as Slice).cpuOf);
  return {
    perSecond: median(slices.map((slice) => slice.perSecond)),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpu: median(slices.map((slice) => slice.cpu)),
    cpuOf: Object.fromEntries(names.map((name) => [name, median(slices.map((slice) => slice.cpuOf[name] as number))])),
  };
}

const middle = (ratios: Ratios[]): Ratios => ({
  perSecond: median(ratios.map((ratio) => ratio.perSecond)),
  cpu: median(ratios.map((ratio) => ratio.cpu)),
});
