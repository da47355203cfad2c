// The server in front of the application: connections, time-outs, and the drain at the end.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { drain, listen } from '@almanac/service-kit/http/listening';
import { limits } from '@almanac/service-kit/limits';
import { createApp } from './app.ts';
import { callOf, type Reply, whenOver } from './call.ts';
import { limitConnections } from './connections/connection-limits.ts';
import { holdContinue } from './connections/continue.ts';
import { isEnding } from './connections/last-answers.ts';
import { OpenRequests } from './connections/open-requests.ts';
import { refuseConnection, refuseTunnel } from './connections/refused-connections.ts';
import { endStall, findStall } from './connections/stalls.ts';
import type { GatewayContext } from './context.ts';

export type EdgeServer = {
  start(): Promise<number>;
  /** Takes no more connections, lets running requests finish (bounded), closes the rest. */
  stop(): Promise<void>;
  /** Requests under way. */
  open(): number;
};

/** Builds the server; nothing listens until `start`. */
export function createEdgeServer(ctx: GatewayContext): EdgeServer {
  const { config, runtime } = ctx;
  const { logger } = runtime;
  const open = new OpenRequests();
  const app = createApp(ctx, () => open.size > config.limits.requests || runtime.eventLoop.isLate());

  const take = (req: IncomingMessage, response: ServerResponse) => {
    if (isEnding(req.socket)) return;
    const res: ServerResponse & Reply = Object.assign(response, { locals: {} });
    const { bytesRead: read, bytesWritten: written } = req.socket;
    const request = open.add({ req, res, progress: { read, written, at: performance.now() } });
    whenOver(res, () => open.remove(request));
    app(req, res);
  };

  // The parser's limit is above ours, so that ours decides and answers; what is larger still never becomes a request.
  const server = createServer({
    maxHeaderSize: 2 * (limits.headerBytes + limits.urlBytes),
    headersTimeout: config.timeouts.headersMs,
    requestTimeout: 0, // stalls.ts: uploads may take long, JSON may not
    connectionsCheckingInterval: Math.min(config.timeouts.sweepMs, config.timeouts.headersMs),
    keepAliveTimeout: config.timeouts.idleMs,
    requireHostHeader: false, // check-framing.ts answers in the contract's form
    joinDuplicateHeaders: false,
  });
  const { connections: total, addressConnections } = config.limits;
  const perAddress = config.trustedHops === 0 ? addressConnections : undefined;
  limitConnections(server, { perAddress, total }, countClosed(ctx));
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('checkContinue', (req, res) => {
    holdContinue(req);
    take(req, res);
  });
  server.on('connect', (_req, socket) => refuseTunnel(socket));
  server.on('clientError', (error, socket) => {
    const answered = refuseConnection(error, socket);
    if (answered) logger.info({ ...answered, reason: (error as { code?: string }).code }, 'connection refused');
  });

  let sweeper: NodeJS.Timeout | undefined;
  const sweep = () => {
    const now = performance.now();
    for (const request of open.list()) {
      const stall = findStall(request, now, config.timeouts);
      if (!stall) continue;
      logger.warn({ request_id: callOf(request.res).requestId, stall }, 'a request stood still and was ended');
      endStall(request, stall);
    }
  };

  return {
    start: async () => {
      const port = await listen(server, { host: config.common.host, port: config.common.httpPort });
      sweeper = setInterval(sweep, config.timeouts.sweepMs);
      return port;
    },
    stop: async () => {
      clearInterval(sweeper);
      await drain(server);
    },
    open: () => open.size,
  };
}

const toldEveryMs = 10_000;

// Counts every connection that was closed for the limits; the log has a line in ten seconds.
function countClosed({ runtime: { logger, metrics } }: GatewayContext): () => void {
  let closed = 0;
  let told = Number.NEGATIVE_INFINITY;
  metrics.gauge(
    'almanac_gateway_connections_closed',
    'Connections closed for the limits since the start.',
    () => closed,
  );
  return () => {
    closed += 1;
    const now = performance.now();
    if (now - told < toldEveryMs) return;
    told = now;
    logger.warn({ closed }, 'connections were closed: there are more than one address, or all together, may have');
  };
}
