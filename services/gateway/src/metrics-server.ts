// The gateway's metrics have their own port, which clients can't reach.
import { createServer } from 'node:http';
import { listen } from '@almanac/service-kit/http/listening';
import type { Metrics } from '@almanac/service-kit/observability/metrics';

type Options = { host: string; port: number; metrics: Pick<Metrics, 'text' | 'contentType'> };

/** Answers `GET /metrics` and nothing else. */
export function createMetricsServer({ host, port, metrics }: Options) {
  const server = createServer(async (req, res) => {
    if (req.method !== 'GET' || req.url !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    try {
      const text = await metrics.text();
      res.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
    } catch {
      res.writeHead(500).end();
    }
  });
  return {
    /** Listens; returns the port. */
    start: () => listen(server, { host, port }),
    stop: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
