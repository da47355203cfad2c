// CORS: browser applications of the origins in GATEWAY_CORS_ORIGINS may call the API with a token.
// Cookies are never allowed, so a page can do no more than its own token allows. The console allows
// no origin.
import type { Request, RequestHandler, Response } from 'express';
import { setDefaultHeaders } from '../answers/default-headers.ts';
import { callOf } from '../call.ts';
import type { GatewayContext } from '../context.ts';

const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Exact-Numbers',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'X-Request-Id',
  'traceparent',
  'tracestate',
].join(', ');

const answerHeaders = [
  'X-Request-Id',
  'X-Allowance-Limit',
  'X-Allowance-Remaining',
  'X-Allowance-Reset',
  'Retry-After',
  'ETag',
  'WWW-Authenticate',
  'Content-Disposition',
].join(', ');

/** Allows applications of a configured origin to read the answer. */
export const allowOrigin =
  ({ config }: Pick<GatewayContext, 'config'>): RequestHandler =>
  (req, res, next) => {
    const { origin } = req.headers;
    if (callOf(res).isConsole) return next();
    if (config.corsOrigins.length > 0) res.setHeader('Vary', 'Origin');
    if (isAllowed(config, origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Expose-Headers', answerHeaders);
    }
    next();
  };

/** Answers OPTIONS, including a browser's preflight request. */
export function answerOptions(
  { config, defaultHeaders }: GatewayContext,
  req: Request,
  res: Response,
  allow: string,
): void {
  setDefaultHeaders(res, defaultHeaders);
  const isAllowedHere = !callOf(res).isConsole && isAllowed(config, req.headers.origin);
  if (isAllowedHere && req.headers['access-control-request-method'] !== undefined) setPreflightHeaders(res, allow);
  res.writeHead(204, { Allow: allow }).end();
}

function setPreflightHeaders(res: Response, methods: string): void {
  res.setHeader('Access-Control-Allow-Methods', methods);
  res.setHeader('Access-Control-Allow-Headers', requestHeaders);
  res.setHeader('Access-Control-Max-Age', '600');
}

const isAllowed = ({ corsOrigins }: GatewayContext['config'], origin: string | undefined): origin is string =>
  origin !== undefined && corsOrigins.includes(origin);
