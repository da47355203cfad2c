// The services that requests are forwarded to. http-proxy-middleware moves the bytes
// (docs/adr/0013-forwarding.md); this file adds a limit on the requests in flight at one service,
// the headers of answers, and 503 in the contract's form.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { ServiceTls } from '@almanac/service-kit/tls/service-tls';
import type { NextFunction, Request, Response } from 'express';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { countCall } from '../admission/count-call.ts';
import type { DefaultHeader } from '../answers/default-headers.ts';
import { answerError } from '../answers/error-answer.ts';
import { callOf, type Destination, onClose, updateCall } from '../call.ts';
import { type UpstreamName, upstreamNames } from '../config.ts';
import { closeAfter } from '../connections/closing-connections.ts';
import { discardBody, sendContinue } from '../connections/request-body.ts';
import { ForwardedRequest } from './forwarded-request.ts';
import { getJson } from './get-json.ts';
import { closeIdle, createServiceAgent } from './service-agent.ts';

export type Upstream = {
  /** Forwards the request with these headers; 503 when the service is overloaded or unreachable. */
  forward(req: Request, res: Response, next: NextFunction, headers: OutgoingHttpHeaders): void;
  /** Fetches a JSON document of the service; see `getJson`. */
  getJson(path: string): Promise<unknown>;
  /** The number of requests in flight. */
  inFlight(): number;
  /** Closes its connections. */
  close(): void;
};

export type Upstreams = Record<UpstreamName, Upstream>;

export type UpstreamOptions = {
  urls: Record<UpstreamName, string>;
  /** For services whose URL is https://. */
  tls: ServiceTls | undefined;
  /** Time limit for a new connection. */
  connectMs: number;
  /** How long an idle connection is kept. */
  keepMs: number;
  /**
   * Limit of the requests in flight at one service; more are 503, so that a slow service does not
   * exhaust the gateway.
   */
  maxInFlight: number;
  /** Headers of every answer, unless the service sets its own. */
  defaultHeaders: readonly DefaultHeader[];
  logger: Logger;
  /** Whether this gateway is about to stop: each answer then closes its connection. */
  isDraining(): boolean;
};

const isStatus = (status = 0) => status >= 200 && status <= 599;

// Framing and allowance headers are the gateway's own, and no header shows a service's software.
const removedAnswerHeaders = [
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'server',
  'x-powered-by',
  'x-allowance-limit',
  'x-allowance-remaining',
  'x-allowance-reset',
];

/** All services by name. Connections are opened when they are needed. */
export function createUpstreams(options: UpstreamOptions): Upstreams {
  return Object.fromEntries(upstreamNames.map((name) => [name, createUpstream(name, options)])) as Upstreams;
}

/** Closes the connections to all services. */
export function closeUpstreams(upstreams: Upstreams): void {
  for (const name of upstreamNames) upstreams[name].close();
}

function createUpstream(name: UpstreamName, options: UpstreamOptions): Upstream {
  const { urls, connectMs, keepMs, maxInFlight, defaultHeaders, logger } = options;
  let inFlight = 0;
  const unavailable = (state: 'overloaded' | 'not available') =>
    new ServiceError('unavailable', `The ${name} service is ${state}; retry later.`);

  const agent = createServiceAgent(name, keepMs, urls[name].startsWith('https:') ? options.tls : undefined);
  const closeIdleConnections = () => closeIdle(agent);

  const warn = (res: Response, err: Error, event: string) =>
    logger.warn({ err, upstream: name, request_id: callOf(res).requestId }, event);

  const plugin: Plugin<Request, Response> = (proxy) => {
    proxy.on('proxyReq', (proxyReq, _req, res) => callOf(res).forwarded?.onRequest(proxyReq));
    proxy.on('proxyRes', (proxyRes, req, res) => {
      const { forwarded } = callOf(res);
      if (res.headersSent) return; // the request was aborted
      if (!isStatus(proxyRes.statusCode)) {
        forwarded?.onError(new Error(`${proxyRes.statusCode} is not the status of an answer.`));
        proxyRes.destroy();
        return;
      }
      forwarded?.onAnswer();
      proxyRes.once('error', (error) => warn(res, error, 'a service aborted its answer'));
      proxyRes.statusMessage = ''; // Node sets the standard phrase
      // The service is about to stop. A request on an idle connection could arrive as it closes,
      // and could then not be distinguished from one that was executed.
      if (proxyRes.headers.connection === 'close') closeIdleConnections();
      if (options.isDraining()) closeAfter(req, res);
      setAnswerHeaders(proxyRes, req, res, defaultHeaders);
    });
    proxy.on('end', (req) => discardBody(req));
    proxy.on('error', (error, _req, res) => callOf(res as Response).forwarded?.onError(error));
  };
  const proxy = createProxyMiddleware<Request, Response>({
    target: urls[name],
    changeOrigin: true,
    agent,
    ejectPlugins: true,
    plugins: [plugin],
  });

  return {
    forward: (req, res, next, headers) => {
      if (inFlight >= maxInFlight) throw unavailable('overloaded');
      inFlight += 1;
      onClose(res, () => {
        inFlight -= 1;
      });
      req.headers = headers as Request['headers']; // the proxy sends these
      sendContinue(req, res);
      const send = () => void proxy(req, res, next);
      // Answered here, not by `next(error)`: the proxy checks right away whether an answer was
      // sent.
      const refuse = (error: Error) => {
        warn(res, error, 'a service did not answer');
        answerError(req, res, unavailable('not available'), defaultHeaders);
      };
      const { isUpload, answerWithinMs } = callOf(res).destination as Destination;
      const bounds = { isUpload, answerWithinMs, connectMs };
      const forwarded = new ForwardedRequest(req, res, {
        ...bounds,
        send,
        onConnectionLost: closeIdleConnections,
        refuse,
      });
      updateCall(res, { forwarded });
      forwarded.start();
    },
    getJson: (path) => getJson(`${urls[name]}${path}`, agent),
    inFlight: () => inFlight,
    close: () => agent.destroy(),
  };
}

// Afterwards the proxy copies the remaining headers of the service over those set here.
function setAnswerHeaders(
  { headers, statusCode = 0 }: IncomingMessage,
  req: Request,
  res: Response,
  defaults: readonly DefaultHeader[],
): void {
  for (const name of removedAnswerHeaders) delete headers[name];
  headers.connection = res.getHeader('Connection') === 'close' || !res.shouldKeepAlive ? 'close' : 'keep-alive';
  // The answer depends on the origin as well.
  if (headers.vary !== undefined && res.hasHeader('Vary')) headers.vary += `, ${res.getHeader('Vary')}`;
  for (const [name, lowerCase, value] of defaults) if (headers[lowerCase] === undefined) res.setHeader(name, value);
  if (headers['x-request-id'] === undefined) res.setHeader('X-Request-Id', callOf(res).requestId);
  for (const [name, value] of Object.entries(countCall(req, res, statusCode))) res.setHeader(name, value);
}
