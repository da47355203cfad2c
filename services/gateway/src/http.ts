// The server at the edge: takes every request, frames it as an exchange, sends it on its way and writes one line about it.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { createAccessLogger, type Logger } from '@almanac/service-kit/logger';
import { type Carrier, type Tracing, tracing } from '@almanac/service-kit/tracing';
import { traceRequest } from '@almanac/service-kit/tracing-calls';
import type { Express } from 'express';
import type { GatewayContext } from './context.ts';
import { callApi, callEnds, isApiPath } from './edge/api-calls.ts';
import { limitConnections } from './edge/connection-limits.ts';
import { allowOrigin } from './edge/cors.ts';
import {
  closeAfter,
  type EdgeRequest,
  type Exchange,
  isEnding,
  openExchange,
  refuse,
  setDefaults,
} from './edge/exchange.ts';
import { framingProblem } from './edge/framing.ts';
import { OpenExchanges } from './edge/open-exchanges.ts';
import { findPassThrough, passThrough } from './edge/pass-through.ts';
import { refuseConnection, refuseTunnel } from './edge/refused-connections.ts';
import { securityHeaders } from './edge/security-headers.ts';
import { endStall, findStall } from './edge/stalls.ts';

export type EdgeServer = {
  start(): Promise<number>;
  /** Takes no more connections, lets running requests finish (bounded), closes the rest. */
  stop(): Promise<void>;
  /** Requests under way. */
  open(): number;
};

const drainMs = 20_000;
const quietPaths = new Set(['/healthz', '/readyz']);
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

export function createEdgeServer(ctx: GatewayContext, pages: Express): EdgeServer {
  const { config, frame } = ctx;
  const { logger, health } = frame;
  const accessLog = createAccessLogger(logger);
  const exchanges = new OpenExchanges();
  const defaults = securityHeaders(ctx.publicUrl.protocol === 'https:');

  const handle = (req: EdgeRequest, res: ServerResponse, expectsContinue: boolean) => {
    if (isEnding(req.socket)) return;
    const exchange = openExchange(req, res, expectsContinue, health.isDraining, defaults);
    exchanges.add(exchange);
    res.on('close', () => {
      exchanges.remove(exchange);
      ctx.upstreams.ended(exchange);
      callEnds(ctx, exchange);
      record(ctx, accessLog, exchange);
    });
    if (exchange.isLast) closeAfter(exchange);
    const isTooBusy = exchanges.size > config.limits.requests || frame.eventLoop.isLate();
    const serve = isTooBusy && !quietPaths.has(exchange.path) ? shed : dispatch;
    if (tracing) traced(tracing, serve, ctx, pages, exchange);
    else serve(ctx, pages, exchange);
  };

  // The parser's limit is above ours, so that ours decides and answers; what is larger still never becomes a request.
  const server = createServer({
    maxHeaderSize: 2 * (limits.headerBytes + limits.urlBytes),
    headersTimeout: config.timeouts.headersMs,
    requestTimeout: 0, // stalls.ts: uploads may take long, JSON may not
    connectionsCheckingInterval: Math.min(config.timeouts.sweepMs, config.timeouts.headersMs),
    keepAliveTimeout: config.timeouts.idleMs,
    requireHostHeader: false, // framing.ts answers in the contract's form
    joinDuplicateHeaders: false,
  });
  const { connections: total, addressConnections } = config.limits;
  const perAddress = config.trustedHops === 0 ? addressConnections : undefined;
  limitConnections(server, { perAddress, total }, countClosed(ctx));
  server.on('request', (req, res) => handle(req, res, false));
  server.on('checkContinue', (req, res) => handle(req, res, true));
  server.on('checkExpectation', (req, res) => handle(req, res, false));
  server.on('connect', (_req, socket) => refuseTunnel(socket));
  server.on('clientError', (error, socket) => {
    const answered = refuseConnection(error, socket);
    if (answered) logger.info({ ...answered, reason: (error as { code?: string }).code }, 'connection refused');
  });

  let sweeper: NodeJS.Timeout | undefined;
  const sweep = () => {
    const now = performance.now();
    for (const exchange of exchanges.list()) {
      const stall = findStall(exchange, now, config.timeouts);
      if (!stall) continue;
      logger.warn({ request_id: exchange.requestId, stall }, 'an exchange stood still and was ended');
      endStall(exchange, stall);
    }
  };

  return {
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.common.httpPort, config.common.host, () => {
          server.off('error', reject);
          sweeper = setInterval(sweep, config.timeouts.sweepMs);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    stop: async () => {
      clearInterval(sweeper);
      await close(server);
    },
    open: () => exchanges.size,
  };
}

const toldEveryMs = 10_000;

// Counts every connection that was closed for the limits; the log has a line in ten seconds.
function countClosed({ frame: { logger, metrics } }: GatewayContext): () => void {
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

type Serve = (ctx: GatewayContext, pages: Express, exchange: Exchange) => void;

const dispatch: Serve = (ctx, pages, exchange) => {
  const { req, res, path } = exchange;
  try {
    requireFraming(exchange);
    allowOrigin(ctx, exchange);
    const found = findPassThrough(path);
    if (isApiPath(path)) void callApi(ctx, exchange);
    else if (found) passThrough(ctx, exchange, found);
    else {
      setDefaults(exchange);
      pages(req as Parameters<Express>[0], res as Parameters<Express>[1]);
    }
  } catch (error) {
    refuse(exchange, error);
  }
};

// Whoever can't be served in time hears so at once, and who is being served still is: taking everybody in would end in serving nobody.
const shed: Serve = (ctx, _pages, exchange) => {
  try {
    requireFraming(exchange);
    allowOrigin(ctx, exchange);
    throw new ServiceError('unavailable', 'There is too much to do just now; try again.');
  } catch (error) {
    refuse(exchange, error);
  }
};

function requireFraming(exchange: Exchange): void {
  const problem = framingProblem(exchange.req);
  if (!problem) return;
  closeAfter(exchange);
  throw problem;
}

// The span begins before anything is known of the call, and the service's own is a part of it: its context replaces the client's.
function traced(on: Tracing, serve: Serve, ctx: GatewayContext, pages: Express, exchange: Exchange): void {
  const { req, res, requestId } = exchange;
  const work = (carrier: Carrier) => {
    Object.assign(req.headers, carrier);
    serve(ctx, pages, exchange);
  };
  traceRequest(on, req, res, work, () => ({
    method: methodOf(req),
    route: exchange.route && `/api/v1${exchange.route.path}`,
    facts: { 'almanac.request_id': requestId },
  }));
}

const methodOf = ({ method = '' }: EdgeRequest) => (knownMethods.has(method) ? method : 'OTHER');

function record(ctx: GatewayContext, accessLog: Logger, exchange: Exchange): void {
  const { req, res, path, route, token, startedAt, requestId, fault } = exchange;
  if (fault) ctx.frame.logger.error({ err: fault, request_id: requestId }, 'a request could not be served');
  if (quietPaths.has(path)) return;
  const ms = performance.now() - startedAt;
  const method = methodOf(req);
  const aborted = !res.writableFinished;
  const status = aborted && !res.headersSent ? 499 : res.statusCode;
  ctx.frame.metrics.httpDuration.observe(
    { service: 'gateway', method, route: route?.path ?? 'none', status },
    ms / 1000,
  );
  const line: Record<string, unknown> = {
    request_id: requestId,
    method: (req.method ?? '').slice(0, 16),
    path: path.slice(0, 512),
    status,
    ms: Math.round(ms * 100) / 100,
  };
  if (token) {
    line.account_id = token.accountId;
    line.application_id = token.applicationId;
    line.user_id = token.userId;
  }
  if (aborted) line.aborted = true;
  accessLog.info(line, 'request');
}

function close(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
