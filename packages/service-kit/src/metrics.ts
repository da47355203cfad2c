// Prometheus metrics of a service, in a registry of its own so that two services can live in one process under test.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = {
  registry: Registry;
  contentType: string;
  text(): Promise<string>;
  httpDuration: Histogram<'service' | 'method' | 'route' | 'status'>;
  rpcDuration: Histogram<'service' | 'method' | 'code'>;
  /** A number read when the metrics are asked for (a queue's depth, an outbox' lag). */
  gauge(name: string, help: string, read: () => Promise<number> | number): void;
};

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
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
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          this.set(await read());
        },
      });
    },
  };
}
