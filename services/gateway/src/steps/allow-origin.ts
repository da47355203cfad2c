// What browser applications of other origins may do: those of GATEWAY_CORS_ORIGINS call the API with a token, others
// nothing. No cookie ever goes along, so a page can do no more than its own token allows.
import type { Request, RequestHandler, Response } from 'express';
import type { GatewayContext } from '../context.ts';
import { addDefaults } from './default-headers.ts';

const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Exact-Numbers',
  'Idempotency-Key',
  'If-Match',
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

/** Lets an application of an allowed origin read the answer. */
export const allowOrigin =
  ({ config }: Pick<GatewayContext, 'config'>): RequestHandler =>
  (req, res, next) => {
    const { origin } = req.headers;
    if (config.corsOrigins.length > 0) res.setHeader('Vary', 'Origin');
    if (isAllowed(config, origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Expose-Headers', answerHeaders);
    }
    next();
  };

/** Answers OPTIONS, with what a browser asks before it lets an application of an allowed origin call. */
export function answerOptions({ config, defaults }: GatewayContext, req: Request, res: Response, allow: string): void {
  addDefaults(res, defaults);
  if (isAllowed(config, req.headers.origin) && req.headers['access-control-request-method'] !== undefined)
    allowCall(res, allow);
  res.writeHead(204, { Allow: allow }).end();
}

function allowCall(res: Response, methods: string): void {
  res.setHeader('Access-Control-Allow-Methods', methods);
  res.setHeader('Access-Control-Allow-Headers', requestHeaders);
  res.setHeader('Access-Control-Max-Age', '600');
}

const isAllowed = ({ corsOrigins }: GatewayContext['config'], origin: string | undefined): origin is string =>
  origin !== undefined && corsOrigins.includes(origin);
