// Node's HTTP server in front of the app: connections, timeouts, and the drain at the end.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { drain, listen } from '@almanac/service-kit/http/listening';
import { limits } from '@almanac/service-kit/limits';
import { createApp } from './app.ts';
import { callOf, onClose, type ResponseWithCall } from './call.ts';
import { isClosing } from './connections/closing-connections.ts';
import { limitConnections } from './connections/connection-limits.ts';
import { OpenRequests } from './connections/open-requests.ts';
import { answerParseError, refuseConnect } from './connections/parse-errors.ts';
import { markAwaitingContinue } from './connections/request-body.ts';
import { endTimedOut, findTimeout } from './connections/timeouts.ts';
import type { GatewayContext } from './context.ts';

export type GatewayServer = {
  start(): Promise<number>;
  /** Stops listening, waits a bounded time for requests in flight, and closes the rest. */
  stop(): Promise<void>;
  /** The number of requests in flight. */
  inFlight(): number;
};

/** Builds the server; nothing listens until `start`. */
export function createGatewayServer(ctx: GatewayContext): GatewayServer {
  const { config, runtime } = ctx;
  const { logger } = runtime;
  const open = new OpenRequests();
  const app = createApp(ctx, () => open.size > config.limits.requests || runtime.eventLoop.isLate());

  const serve = (req: IncomingMessage, response: ServerResponse) => {
    if (isClosing(req.socket)) return;
    const res: ServerResponse & ResponseWithCall = Object.assign(response, { locals: {} });
    const { bytesRead: read, bytesWritten: written } = req.socket;
    const request = open.add({ req, res, progress: { read, written, at: performance.now() } });
    onClose(res, () => open.remove(request));
    app(req, res);
  };

  // The parser's limit is above the contract's, so that check-framing.ts answers. Still larger
  // headers are a parser error.
  const server = createServer({
    maxHeaderSize: 2 * (limits.headerBytes + limits.urlBytes),
    headersTimeout: config.timeouts.headersMs,
    requestTimeout: 0, // timeouts.ts: uploads may take long, JSON may not
    connectionsCheckingInterval: Math.min(config.timeouts.sweepMs, config.timeouts.headersMs),
    keepAliveTimeout: config.timeouts.idleMs,
    requireHostHeader: false, // check-framing.ts answers in the contract's form
    joinDuplicateHeaders: false,
  });
  const { connections: total, addressConnections } = config.limits;
  const perAddress = config.trustedHops === 0 ? addressConnections : undefined;
  limitConnections(server, { perAddress, total }, createClosedCounter(ctx));
  server.on('request', serve);
  server.on('checkExpectation', serve);
  server.on('checkContinue', (req, res) => {
    markAwaitingContinue(req);
    serve(req, res);
  });
  server.on('connect', (_req, socket) => refuseConnect(socket));
  server.on('clientError', (error, socket) => {
    const answered = answerParseError(error, socket);
    if (answered) logger.info({ ...answered, reason: (error as { code?: string }).code }, 'connection refused');
  });

  let sweeper: NodeJS.Timeout | undefined;
  const sweep = () => {
    const now = performance.now();
    for (const request of open.list()) {
      const timeout = findTimeout(request, now, config.timeouts);
      if (!timeout) continue;
      logger.warn({ request_id: callOf(request.res).requestId, timeout }, 'a request timed out');
      endTimedOut(request, timeout);
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
    inFlight: () => open.size,
  };
}

const logEveryMs = 10_000;

// Counts all connections that were closed for the limits, and logs at most one line in ten seconds.
function createClosedCounter({ runtime: { logger, metrics } }: GatewayContext): () => void {
  let closed = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  metrics.gauge(
    'almanac_gateway_connections_closed',
    'Connections that the limits closed since the start.',
    () => closed,
  );
  return () => {
    closed += 1;
    const now = performance.now();
    if (now - loggedAt < logEveryMs) return;
    loggedAt = now;
    logger.warn({ closed }, 'connections were closed: one address, or all clients, exceeded the limit');
  };
}
