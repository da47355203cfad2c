// The services that requests are forwarded to, each over connections that are kept: http-proxy-middleware carries the bytes
// (docs/adr/0013-forwarding.md). Here is what is ours: a bound on what is under way at one service, the headers of answers,
// and 503 in the contract's form.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { ServiceTls } from '@almanac/service-kit/tls/service-tls';
import type { NextFunction, Request, Response } from 'express';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { callOf, type Destination, learn, whenOver } from '../call.ts';
import { type UpstreamName, upstreamNames } from '../config.ts';
import { sendContinue } from '../connections/continue.ts';
import { closeAfter, dropBody } from '../connections/last-answers.ts';
import { answerBegins } from '../steps/admit.ts';
import type { DefaultHeader } from '../steps/default-headers.ts';
import { answerFailure } from '../steps/refuse.ts';
import { Forwarding } from './forwarding.ts';
import { getJson } from './get-json.ts';
import { closeIdle, createServiceAgent } from './service-agent.ts';

export type Upstream = {
  /** Forwards the request with these headers; 503 when the service has too much to do or can't be reached. */
  forward(req: Request, res: Response, next: NextFunction, headers: OutgoingHttpHeaders): void;
  /** A document of the service's own; see `getJson`. */
  getJson(path: string): Promise<unknown>;
  /** Requests under way. */
  open(): number;
  /** Ends its connections. */
  close(): void;
};

export type Upstreams = Record<UpstreamName, Upstream>;

export type UpstreamOptions = {
  urls: Record<UpstreamName, string>;
  /** For services whose URL is https://. */
  tls: ServiceTls | undefined;
  /** How long a connection may take to be made. */
  connectMs: number;
  /** Requests under way at one service; more are 503, so that one that is slow leaves room for the others. */
  mostOpen: number;
  /** What every answer carries unless the service says otherwise. */
  defaults: readonly DefaultHeader[];
  logger: Logger;
  /** Whether this gateway is about to stop: answers then end their connections. */
  isDraining(): boolean;
};

const isStatus = (status = 0) => status >= 200 && status <= 599;

// The answer's own framing is ours, as is what is left of the allowance, and nothing shows what runs inside.
const droppedAnswerHeaders = [
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

/** All services by name; a connection is made when it is needed. */
export function createUpstreams(options: UpstreamOptions): Upstreams {
  return Object.fromEntries(upstreamNames.map((name) => [name, createUpstream(name, options)])) as Upstreams;
}

/** Ends the connections to all services. */
export function closeUpstreams(upstreams: Upstreams): void {
  for (const name of upstreamNames) upstreams[name].close();
}

function createUpstream(name: UpstreamName, options: UpstreamOptions): Upstream {
  const { urls, connectMs, mostOpen, defaults, logger } = options;
  let open = 0;
  const unavailable = (what: string) => new ServiceError('unavailable', `The ${name} service ${what}; try again.`);

  const agent = createServiceAgent(name, urls[name].startsWith('https:') ? options.tls : undefined);
  const dropIdle = () => closeIdle(agent);

  const warn = (res: Response, err: Error, what: string) =>
    logger.warn({ err, upstream: name, request_id: callOf(res).requestId }, what);

  const plugin: Plugin<Request, Response> = (proxy) => {
    proxy.on('proxyReq', (proxyReq, _req, res) => callOf(res).forwarding?.begins(proxyReq));
    proxy.on('proxyRes', (proxyRes, req, res) => {
      const { forwarding } = callOf(res);
      if (res.headersSent) return; // it was given up
      if (!isStatus(proxyRes.statusCode)) {
        forwarding?.fails(new Error(`${proxyRes.statusCode} is no status of an answer.`));
        proxyRes.destroy();
        return;
      }
      forwarding?.answered();
      proxyRes.once('error', (error) => warn(res, error, 'a service broke off its answer'));
      proxyRes.statusMessage = ''; // Node's own words for the status instead
      // It is about to stop, and a call that meets the end of its connection can't be told from one that was done.
      if (proxyRes.headers.connection === 'close') dropIdle();
      if (options.isDraining()) closeAfter(req, res);
      setAnswerHeaders(proxyRes, req, res, defaults);
    });
    proxy.on('end', (req) => dropBody(req));
    proxy.on('error', (error, _req, res) => callOf(res as Response).forwarding?.fails(error));
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
      if (open >= mostOpen) throw unavailable('has too much to do just now');
      open += 1;
      whenOver(res, () => {
        open -= 1;
      });
      req.headers = headers as Request['headers']; // from here on the request is what the service is sent
      sendContinue(req, res);
      const send = () => void proxy(req, res, next);
      // At once, not by way of the steps: the proxy looks whether an answer has been sent.
      const refuse = (error: Error) => {
        warn(res, error, 'a service did not answer');
        answerFailure(req, res, unavailable('is not available just now'), defaults);
      };
      const { isUpload, answerWithinMs } = callOf(res).destination as Destination;
      const bounds = { isUpload, answerWithinMs, connectMs };
      const forwarding = new Forwarding(req, res, { ...bounds, send, onBroken: dropIdle, refuse });
      learn(res, { forwarding });
      forwarding.start();
    },
    getJson: (path) => getJson(`${urls[name]}${path}`, agent),
    open: () => open,
    close: () => agent.destroy(),
  };
}

// The proxy copies what is left of the service's headers over those that are set here.
function setAnswerHeaders(
  { headers, statusCode = 0 }: IncomingMessage,
  req: Request,
  res: Response,
  defaults: readonly DefaultHeader[],
): void {
  for (const name of droppedAnswerHeaders) delete headers[name];
  headers.connection = res.getHeader('Connection') === 'close' || !res.shouldKeepAlive ? 'close' : 'keep-alive';
  // The answer depends on the origin, too.
  if (headers.vary !== undefined && res.hasHeader('Vary')) headers.vary += `, ${res.getHeader('Vary')}`;
  for (const [name, small, value] of defaults) if (headers[small] === undefined) res.setHeader(name, value);
  if (headers['x-request-id'] === undefined) res.setHeader('X-Request-Id', callOf(res).requestId);
  for (const [name, value] of Object.entries(answerBegins(req, res, statusCode))) res.setHeader(name, value);
}
