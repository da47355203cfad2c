// Forwards requests to the services with http-proxy-middleware over kept connections: bodies flow through unread, a client
// that goes away takes its upstream request with it, and a service that is away is a 503.
import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/logger';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import { type UpstreamName, upstreamNames } from '../config.ts';
import { type EdgeRequest, type Exchange, refuse } from './exchange.ts';
import { hasBody } from './framing.ts';

export type Upstreams = {
  /** Forwards the request as its headers now are; `onAnswer` is called when a service's answer begins. */
  forward(name: UpstreamName, exchange: Exchange): void;
  /** Fetches a document of a service for the gateway itself. */
  url(name: UpstreamName): string;
  close(): void;
};

type Options = {
  urls: Record<UpstreamName, string>;
  logger: Logger;
  onAnswer(exchange: Exchange, status: number): void;
};

const safeToRepeat = new Set(['GET', 'HEAD']);
// The connection was never made, or a kept one was closed by the other side as we took it up.
const neverArrived = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
// The answer's own framing is ours, and nothing tells what runs inside.
const droppedAnswerHeaders = ['keep-alive', 'proxy-connection', 'trailer', 'upgrade', 'server', 'x-powered-by'];

export function createUpstreams({ urls, logger, onAnswer }: Options): Upstreams {
  const agent = new Agent({ keepAlive: true, maxSockets: 1_024, maxFreeSockets: 128, scheduling: 'lifo' });
  const handlers = new Map<UpstreamName, RequestHandler<EdgeRequest>>();
  for (const name of upstreamNames)
    handlers.set(
      name,
      createProxyMiddleware<EdgeRequest, ServerResponse>({
        target: urls[name],
        agent,
        changeOrigin: true,
        ejectPlugins: true,
        plugins: [
          (proxy) => {
            proxy.on('proxyReq', (upstreamRequest, req) => {
              const { exchange } = req;
              if (exchange) exchange.upstreamRequest = upstreamRequest;
            });
            proxy.on('proxyRes', (answer, req) => begin(answer, req, onAnswer));
            proxy.on('error', (error, req) => {
              if (req?.exchange) failed(name, req.exchange, error);
            });
            proxy.on('econnreset', () => {}); // the client went away
          },
        ],
      }),
    );

  const forward = (name: UpstreamName, exchange: Exchange) => {
    const handler = handlers.get(name) as RequestHandler<EdgeRequest>;
    if (exchange.expectsContinue && !exchange.wasRetried) exchange.res.writeContinue();
    handler(exchange.req, exchange.res, (error) => failed(name, exchange, error)).catch((error: unknown) =>
      failed(name, exchange, error),
    );
  };

  const failed = (name: UpstreamName, exchange: Exchange, error: unknown) => {
    const { req, res } = exchange;
    if (res.destroyed || res.writableEnded || req.socket.destroyed) return;
    const { code } = error as { code?: string };
    const mayRepeat = safeToRepeat.has(req.method ?? '') && !hasBody(req) && neverArrived.has(code ?? '');
    if (!res.headersSent && !exchange.wasRetried && mayRepeat) {
      exchange.wasRetried = true;
      forward(name, exchange);
      return;
    }
    logger.warn({ err: error, upstream: name, request_id: exchange.requestId }, 'a service did not answer');
    refuse(exchange, new ServiceError('unavailable', `The ${name} service is not available just now; try again.`));
  };

  return { forward, url: (name) => urls[name], close: () => agent.destroy() };
}

function begin(answer: IncomingMessage, req: EdgeRequest, onAnswer: Options['onAnswer']): void {
  const { exchange } = req;
  if (!exchange) return;
  exchange.answerDue = undefined;
  for (const name of droppedAnswerHeaders) delete answer.headers[name];
  answer.headers.connection = exchange.res.shouldKeepAlive && !exchange.isLast ? 'keep-alive' : 'close';
  answer.statusMessage = ''; // the reason phrase is ours
  onAnswer(exchange, answer.statusCode ?? 502);
}
