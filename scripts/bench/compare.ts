// Measures an operation through the gateway, at the data service and at the bare server, in short
// alternating slices, so that other load on the machine affects all of them alike. Each slice of
// the product is paired with one of the bare server with as many requests.
import { writeRequest } from './measuring/connection.ts';
import { runLoad } from './measuring/load.ts';
import { cpuOf } from './measuring/processes.ts';
import type { Target } from './measuring/product.ts';
import { median, quantile } from './measuring/quantiles.ts';
import type { Operation, Request } from './operations.ts';

/** A server to compare, and the processes that serve its answers. */
export type Side = { target: Target; processes: Record<string, number> };
export type Sides = { gateway: Side; service: Side; bare: Side };

export type Measured = {
  perSecond: number;
  p50: number;
  p99: number;
  /** Milliseconds of CPU for each request, of all processes and of each one. */
  cpu: number;
  cpuOf: Record<string, number>;
};
/** Ratios to the bare server; 1 is equal. */
type Ratios = { perSecond: number; cpu: number };
export type Comparison = {
  name: string;
  measured: Record<keyof Sides, Measured>;
  ratios: Record<'gateway' | 'service', Ratios>;
};

export const connections = 16;
export type Slice = { perSecond: number; times: number[]; cpu: number; cpuOf: Record<string, number> };

/**
 * `warmRequests` are sent to each side before the measurement. V8 compiles hot code in steps: a
 * grid page costs the data service half as much after 30,000 calls as in the beginning; the bare
 * server, with less code, is compiled after a few thousand.
 */
export type Pace = { rounds: number; sliceSeconds: number; warmRequests: number };

const warmRounds = 3;

/** Compares one operation; the numbers of its requests continue from slice to slice. */
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

/** Sends `requests` requests over `concurrency` connections, and returns their costs. */
export async function runSlice(
  { target, processes }: Side,
  ask: (n: number) => Request,
  requests: number,
  concurrency = connections,
): Promise<Slice> {
  const headers = await target.headers();
  const host = `127.0.0.1:${target.port}`;
  const write = (number: number) => {
    const { method, path, body } = ask(number);
    return writeRequest(method, path, { host, headers, body });
  };
  const readAll = () => Object.entries(processes).map(([name, pid]) => [name, cpuOf(pid)] as const);
  const before = Object.fromEntries(readAll());
  const { times, seconds } = await runLoad({ port: target.port, connections: concurrency, write, requests });
  const cpuOfEach = readAll().map(([name, ms]) => [name, (ms - (before[name] as number)) / requests] as const);
  return {
    perSecond: requests / seconds,
    times,
    cpu: cpuOfEach.reduce((sum, [, ms]) => sum + ms, 0),
    cpuOf: Object.fromEntries(cpuOfEach),
  };
}

/** Medians over the slices, quantiles over all of their requests. */
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
