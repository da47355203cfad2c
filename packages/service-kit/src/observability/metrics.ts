// Prometheus metrics of a service, in its own registry, so that two services can share a process
// under test. Labels have few values that are known beforehand: the service, route patterns and the
// like, never paths, accounts or ids.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = {
  registry: Registry;
  contentType: string;
  text(): Promise<string>;
  httpDuration: Histogram<'service' | 'method' | 'route' | 'status'>;
  rpcDuration: Histogram<'service' | 'method' | 'code'>;
  unreadableMessages: Counter<'queue'>;
  /**
   * A number that is read at each scrape (a queue's depth, an outbox' lag). One that can't be read
   * in time is left out, so that a broken dependency doesn't hide the other metrics.
   */
  gauge(name: string, help: string, read: () => Promise<number> | number): void;
  /** Several numbers of one kind, distinguished by a label. */
  gauges(name: string, help: string, label: string, read: () => Promise<Numbers> | Numbers): void;
};

type Numbers = Record<string, number>;

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const readWithinMs = 3_000;
/** Between two samples of the event loop. A process wakes up for each, also an idle one. */
export const eventLoopSampleMs = 100;

/** `processMetrics` adds CPU, memory and the event loop of the process. */
export function createMetrics(options: { processMetrics?: boolean; service?: string } = {}): Metrics {
  const registry = new Registry();
  if (options.service) registry.setDefaultLabels({ service: options.service });
  if (options.processMetrics)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
  return {
    registry,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    httpDuration: new Histogram({
      name: 'almanac_http_request_seconds',
      help: 'Duration of HTTP requests.',
      labelNames: ['service', 'method', 'route', 'status'],
      buckets,
      registers: [registry],
    }),
    rpcDuration: new Histogram({
      name: 'almanac_rpc_seconds',
      help: 'Duration of gRPC calls served.',
      labelNames: ['service', 'method', 'code'],
      buckets,
      registers: [registry],
    }),
    unreadableMessages: new Counter({
      name: 'almanac_bus_unreadable_messages_total',
      help: 'Messages of the bus that were no message, or not one of their type.',
      labelNames: ['queue'],
      registers: [registry],
    }),
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          this.remove();
          const value = await inTime(read);
          if (value !== undefined) this.set(value);
        },
      });
    },
    gauges: (name, help, label, read) => {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        async collect() {
          this.reset();
          for (const [thing, value] of Object.entries((await inTime(read)) ?? {})) this.set({ [label]: thing }, value);
        },
      });
    },
  };
}

async function inTime<T>(read: () => Promise<T> | T): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, readWithinMs, undefined);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
