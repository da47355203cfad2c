// The HTTP server of every service: express with the contract's error body, request ids, one log line a request, the signed
// call context, health and metrics; routes come as declarations.
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { type AuditAct, refusedAct } from './audit.ts';
import {
  type CallContext,
  type ContextVerifier,
  contextHeader,
  requestIdHeader,
  requireBranching,
  requireUser,
} from './call-context.ts';
import { readClientAddress } from './client-address.ts';
import { ServiceError, toServiceError } from './errors.ts';
import type { Health } from './health.ts';
import { keyedBy, readIdempotencyKey } from './idempotency.ts';
import { readAttributes, readParameters, splitBody } from './input.ts';
import { parseJsonBody } from './json-body.ts';
import { limits } from './limits.ts';
import { createAccessLogger, type Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { openApiFragment } from './openapi.ts';
import { toPostgresError } from './postgres-errors.ts';
import { JsonText, type Route } from './route.ts';
import { type Tracing, tracing } from './tracing.ts';
import { traceRequest } from './tracing-calls.ts';
import { noToken } from './unauthenticated.ts';

const apiPrefix = '/api/v1';

export type HttpServer = {
  /** Listens; answers the port. */
  start(): Promise<number>;
  /** Stops taking connections, waits for running requests (bounded), closes idle ones. */
  stop(): Promise<void>;
  app: Express;
};

export type HttpOptions = {
  service: string;
  host: string;
  port: number;
  logger: Logger;
  health: Health;
  metrics: Metrics;
  verifyContext: ContextVerifier;
  routes: Route[];
  /** Told of each call that a right was missing for (403), before it is answered: it belongs in the audit log. */
  onRefused?: (call: CallContext, act: AuditAct) => Promise<void>;
  /** Handlers outside /api/v1 (pages, /oauth): mounted before the API. */
  mount?: (app: Express) => void;
};

/** Takes a request id from the edge if it looks like one, else makes one. */
export function readRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
}

/** Sends a failure in the contract's form; server faults are logged with their cause. */
export function sendError(res: Response, thrown: unknown, logger: Logger): void {
  const error = toServiceError(toPostgresError(thrown));
  if (error.status >= 500) logger.error({ err: error.cause ?? error, request_id: res.locals.requestId }, error.message);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  res.status(error.status).set(error.headers);
  if (error.kind === 'unavailable' && !res.get('Retry-After')) res.set('Retry-After', '1');
  res.json(error.body);
}

/** Builds the server; nothing listens until `start`. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const { logger, health, metrics } = options;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('case sensitive routing', true)
    .set('strict routing', true)
    .set('query parser', 'simple');
  if (tracing) app.use(traced(tracing));
  app.use(observe(options));
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const state = await health.check();
    res.status(state.ready ? 200 : 503).json(state);
  });
  app.get('/metrics', async (_req, res) => void res.type(metrics.contentType).send(await metrics.text()));
  const fragment = openApiFragment(options.service, options.routes);
  app.get('/openapi.json', (_req, res) => void res.json(fragment));
  options.mount?.(app);
  for (const declared of options.routes) mountRoute(app, declared, options);
  app.use((_req, _res) => {
    throw new ServiceError('not_found', 'There is nothing at this address.');
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    sendError(res, asHttpError(error), logger),
  );

  // Twice what the gateway lets in: it adds the context and says where the call came from.
  const server = createServer(
    { maxHeaderSize: 2 * limits.headerBytes, keepAliveTimeout: 75_000, requestTimeout: 0 },
    app,
  );
  return { app, start: () => listen(server, options), stop: () => close(server) };
}

function traced(on: Tracing) {
  return (req: Request, res: Response, next: NextFunction) =>
    traceRequest(
      on,
      req,
      res,
      () => next(),
      () => {
        const { route, requestId } = res.locals;
        const facts = { 'almanac.request_id': requestId };
        return { method: req.method, facts, route: route && `${apiPrefix}${route}` };
      },
    );
}

function observe({ service, logger, metrics, health }: HttpOptions) {
  const accessLog = createAccessLogger(logger);
  return (req: Request, res: Response, next: NextFunction) => {
    const startedAt = performance.now();
    const requestId = readRequestId(req.headers[requestIdHeader]);
    res.locals.requestId = requestId;
    res.setHeader('X-Request-Id', requestId);
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (health.isDraining) res.setHeader('Connection', 'close'); // a kept connection would hold the drain up
    res.on('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const route = String(res.locals.route ?? 'none');
      metrics.httpDuration.observe({ service, method: req.method, route, status: res.statusCode }, seconds);
      if (req.path === '/healthz' || req.path === '/readyz' || req.path === '/metrics') return;
      accessLog.info(
        {
          request_id: requestId,
          method: req.method,
          path: req.path.slice(0, 512),
          status: res.statusCode,
          ms: Math.round(seconds * 1e5) / 100,
          account_id: res.locals.accountId,
          aborted: !res.writableFinished || undefined,
        },
        'request',
      );
    });
    next();
  };
}

function mountRoute(app: Express, declared: Route, options: HttpOptions): void {
  const path = apiPrefix + declared.path.replace(/\{(\w+)\}/g, ':$1');
  const readers = [
    async (req: Request, res: Response, next: NextFunction) => {
      res.locals.route = declared.path;
      const context = req.headers[contextHeader];
      if (typeof context !== 'string') throw noToken();
      const call: CallContext = await options.verifyContext(context, res.locals.requestId);
      call.address = readClientAddress(req);
      res.locals.call = call;
      res.locals.accountId = call.accountId;
      if (declared.user) requireUser(call);
      if (declared.branching) requireBranching(call);
      next();
    },
    ...(declared.raw || declared.method === 'GET' ? [] : [readBody(declared)]),
  ];
  const method = declared.method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete';
  app[method](path, ...readers, noting(declared, options, handler(declared)));
}

// Whoever tries what he may not is written down; that this fails must not turn a refusal into something else.
function noting(declared: Route, { onRefused, logger }: HttpOptions, handle: (req: Request, res: Response) => unknown) {
  return async (req: Request, res: Response) => {
    try {
      await handle(req, res);
    } catch (error) {
      if (onRefused && error instanceof ServiceError && error.kind === 'forbidden')
        await onRefused(res.locals.call, refusedAct(attemptOf(declared, req), error.errors)).catch((failure: unknown) =>
          logger.error({ err: failure, request_id: res.locals.requestId }, 'a refusal could not be noted'),
        );
      throw error;
    }
  };
}

const attemptOf = ({ method }: Route, req: Request) => ({ method, path: req.path.slice(apiPrefix.length, 512) });

// A GET route answers HEAD too (express does that by itself), and never looks at a body.
function readBody(declared: Route) {
  const raw = express.raw({ type: () => true, limit: declared.bodyLimit ?? limits.jsonBodyBytes, inflate: false });
  return (req: Request, res: Response, next: NextFunction) => {
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
    if (!hasBody) return next();
    const type = String(req.headers['content-type'] ?? '').toLowerCase();
    if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/.test(type))
      throw new ServiceError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
    raw(req, res, next);
  };
}

function handler(declared: Route) {
  const params = z.strictObject(declared.params ?? {});
  const query = z.strictObject(declared.query ?? {});
  const body = z.strictObject(declared.body ?? {});
  const attributes = z.strictObject(declared.attributes ?? {});
  const names = new Set(Object.keys(declared.attributes ?? {}));
  const parameters = new Set(Object.keys(declared.body ?? {}));
  const takesKey = declared.requestHeaders?.['Idempotency-Key'] !== undefined;
  return async (req: Request, res: Response) => {
    const json = declared.raw || declared.method === 'GET' ? {} : bodyOf(req);
    if (takesKey) noteKey(res.locals.call, req);
    let parts: ReturnType<typeof splitBody> | undefined;
    const split = () => {
      parts ??= splitBody(json, declared.resource, names, parameters);
      return parts;
    };
    const answer = await declared.handle({
      call: res.locals.call,
      params: readParameters(params, req.params),
      query: readParameters(query, queryOf(req)),
      body: () => {
        const read = readParameters(body, split().rest);
        // Without attributes nobody else looks at what is left under the resource's key.
        if (names.size === 0) readParameters(attributes, split().own);
        return read;
      },
      attributes: () => {
        if (!hasBytes(req)) throw new ServiceError('bad_request', 'The body is missing; send the attributes as JSON.');
        readParameters(body, split().rest);
        return readAttributes(attributes, split().own);
      },
      headers: req.headers,
      request: req,
      response: res,
    });
    if (res.headersSent) return;
    const status = declared.status ?? 200;
    if (status === 204) res.status(204).end();
    else if (answer instanceof JsonText) sendText(res.status(status), answer.text);
    else res.status(status).json(answer);
  };
}

// Its address and its bytes are all that makes another request of it.
function noteKey(call: CallContext, req: Request): void {
  const key = readIdempotencyKey(req.headers['idempotency-key']);
  const body = hasBytes(req) ? req.body.toString('utf8') : '';
  if (key !== undefined) call.keyed = keyedBy(call, key, req.method, req.originalUrl, body);
}

// What can't be text is refused here rather than by a database, or found as another text than the one that was sent.
function queryOf(req: Request): Record<string, unknown> {
  const given = { ...req.query };
  for (const [name, value] of Object.entries(given)) {
    const text = [name, value].flat().join('');
    if (text.includes('\u0000'))
      throw new ServiceError('bad_request', 'The query holds U+0000, which no text may hold.');
    if (text.includes('\ufffd') && !/%EF%BF%BD/i.test(req.url))
      throw new ServiceError('bad_request', 'The query is not valid UTF-8.');
  }
  return given;
}

const hasBytes = (req: Request) => Buffer.isBuffer(req.body) && req.body.length > 0;

// express would make a buffer of it; as a string it leaves in one write together with the headers.
function sendText(res: Response, text: string): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text, 'utf8');
}

function bodyOf(req: Request): unknown {
  return hasBytes(req) ? parseJsonBody(req.body as Buffer) : {};
}

// Errors of body-parser and express itself carry a status; their texts are not ours to show.
function asHttpError(error: unknown): unknown {
  const status = (error as { status?: unknown })?.status;
  if (error instanceof ServiceError || typeof status !== 'number') return error;
  if (status === 413) return new ServiceError('too_large', 'The body is larger than the limit.', { cause: error });
  if (status === 415)
    return new ServiceError('unsupported_media_type', 'Send the body uncompressed.', { cause: error });
  return status < 500 ? new ServiceError('bad_request', 'The request could not be read.', { cause: error }) : error;
}

function listen(server: Server, options: HttpOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), 20_000);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
