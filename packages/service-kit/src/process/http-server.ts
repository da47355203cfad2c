// The HTTP server of every service: an Express app with the API's routes, health, metrics and
// pages. Each request has an id, a log line and a measurement.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type OpenApiFragment, openApiFragment } from '../api/openapi.ts';
import { type ApiOptions, createApiRouter } from '../api/router.ts';
import { requestIdHeader } from '../caller/call-context.ts';
import { ServiceError } from '../errors.ts';
import { type Answering, isEventStream, type Locals, readRequestId, sendError } from '../http/answer.ts';
import { drain, listen } from '../http/listening.ts';
import { addressNotFound, apiPrefix, pathOf } from '../http/path.ts';
import { createTlsServer, isOfGateway } from '../http/tls.ts';
import { limits } from '../limits.ts';
import type { Health } from '../observability/health.ts';
import { createAccessLogger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { traceRequest } from '../observability/tracing/calls.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import type { ServiceTls } from '../tls/service-tls.ts';

export type HttpServer = {
  /** Listens, and returns the port. */
  start(): Promise<number>;
  /** Drains: closes idle connections, and waits a bounded time for running requests. */
  stop(): Promise<void>;
};

export type HttpOptions = ApiOptions & {
  service: string;
  host: string;
  port: number;
  health: Health;
  metrics: Metrics;
  /**
   * With it the server is HTTPS, and only the gateway may call it, except for health and metrics.
   */
  tls: ServiceTls | undefined;
  /** Handlers outside /api/v1 (pages, /oauth). */
  mount?: (app: Express) => void;
  /** What the OpenAPI document says about them. */
  described?: OpenApiFragment;
};

const keepAliveMs = 75_000;
const quietPaths = new Set(['/healthz', '/readyz', '/metrics']);

/** Builds the server; nothing listens until `start`. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const { logger, health, metrics, tls } = options;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('case sensitive routing', true)
    .set('strict routing', true)
    .disable('query parser');
  if (tls) app.use(requireGateway);
  app.use(createApiRouter(options));
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const state = await health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  app.get('/metrics', async (_req, res) => void res.type(metrics.contentType).send(await metrics.text()));
  // Made when it is asked for: a service starts sooner without it.
  let fragment: OpenApiFragment | undefined;
  app.get('/openapi.json', (_req, res) => {
    fragment ??= openApiFragment(options.service, options.routes, options.described);
    res.json(fragment);
  });
  options.mount?.(app);
  app.use((_req, _res) => {
    throw addressNotFound();
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    sendError(res as Response & Answering, asHttpError(error), logger),
  );

  const observe = createObserver(options);
  // Twice the gateway's limit: the gateway adds the context and the client's address.
  const settings = { maxHeaderSize: 2 * limits.headerBytes, keepAliveTimeout: keepAliveMs, requestTimeout: 0 };
  const handle = (req: IncomingMessage, response: ServerResponse) => {
    const res = observe(req, response);
    const serve = () => app(req, res);
    if (tracing) traceRequest(tracing, req, res, serve, () => served(req, res));
    else serve();
  };
  const server = tls ? createTlsServer(tls, logger, settings, handle) : createServer(settings, handle);
  return { start: () => listen(server, options), stop: () => drain(server) };
}

// The platform's probes and Prometheus have no certificate. All other requests need the gateway's.
function requireGateway(req: Request, res: Response, next: NextFunction): void {
  if (quietPaths.has(req.path) || isOfGateway(req)) {
    next();
    return;
  }
  res.setHeader('Connection', 'close');
  throw new ServiceError('forbidden', {
    code: 'missing_right',
    message: 'The certificate of the connection is not one of gateway.',
  });
}

// The facts of a finished request for its trace.
function served({ method = '' }: IncomingMessage, { locals: { route, requestId } }: Answering) {
  return { method, facts: { 'almanac.request_id': requestId }, route: route && `${apiPrefix}${route}` };
}

// Sets the headers of every answer; after it, writes the log line and the measurement.
function createObserver({ service, logger, metrics, health }: HttpOptions) {
  const accessLog = createAccessLogger(logger);
  return (req: IncomingMessage, response: ServerResponse): Answering => {
    const startedAt = performance.now();
    const requestId = readRequestId(req.headers[requestIdHeader]);
    const res = Object.assign(response, { locals: { requestId } as Locals });
    res.setHeader('X-Request-Id', requestId);
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (health.isDraining) res.setHeader('Connection', 'close'); // an idle connection would delay the drain
    res.on('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const { route = 'none', accountId } = res.locals;
      const { method } = req;
      if (!isEventStream(res))
        metrics.httpDuration.observe({ service, method, route, status: res.statusCode }, seconds);
      const path = pathOf(req.url);
      if (quietPaths.has(path)) return;
      accessLog.info(
        {
          request_id: requestId,
          method,
          path: path.slice(0, 512),
          status: res.statusCode,
          ms: Math.round(seconds * 1e5) / 100,
          account_id: accountId,
          aborted: !res.writableFinished || undefined,
        },
        'request',
      );
    });
    return res;
  };
}

// Errors of Express have a status; their texts are not shown to callers.
function asHttpError(error: unknown): unknown {
  const status = (error as { status?: unknown })?.status;
  if (error instanceof ServiceError || typeof status !== 'number') return error;
  if (status === 413)
    return new ServiceError(
      'too_large',
      { code: 'too_large', message: 'The body is larger than the limit.' },
      { cause: error },
    );
  if (status === 415)
    return new ServiceError(
      'unsupported_media_type',
      { code: 'unsupported_media_type', message: 'Send the body uncompressed.' },
      { cause: error },
    );
  return status < 500
    ? new ServiceError(
        'bad_request',
        { code: 'malformed', message: 'The request could not be read.' },
        { cause: error },
      )
    : error;
}
