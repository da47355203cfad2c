// Forwards requests to the services with http-proxy-middleware over kept connections: bodies flow through unread, a client
// that goes away takes its upstream request with it, a service that is away is a 503, and none holds more of us than its share.
import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/logger';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import { type UpstreamName, type UpstreamTimes, upstreamNames } from '../config.ts';
import { type EdgeRequest, type Exchange, refuse } from './exchange.ts';
import { hasBody } from './framing.ts';
import { type FindReplicas, findByName, onceLate, type Replica, Replicas } from './replicas.ts';

export type Upstreams = {
  /** Forwards the request as its headers now are; `onAnswer` is called when a service's answer begins. 503 when it can't be sent anywhere. */
  forward(name: UpstreamName, exchange: Exchange): void;
  /** The exchange is over, whyever. */
  ended(exchange: Exchange): void;
  /** Fetches a document of a service for the gateway itself. */
  url(name: UpstreamName): string;
  /** Requests under way, by service. */
  open(): Record<string, number>;
  /** Replicas that take requests, by service. */
  usable(): Record<string, number>;
  start(): Promise<void>;
  close(): void;
};

type Options = {
  urls: Record<UpstreamName, string>;
  times: UpstreamTimes;
  /** Requests under way at one service; more are 503, so that one that is slow leaves room for the others. */
  mostOpen: number;
  logger: Logger;
  find?: FindReplicas;
  /** Whether this gateway is about to stop: answers then end their connections. */
  isDraining(): boolean;
  onAnswer(exchange: Exchange, status: number): void;
};

const safeToRepeat = new Set(['GET', 'HEAD']);
// The connection was never made, or a kept one was closed by the other side as we took it up.
const neverArrived = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
// The answer's own framing is ours, and nothing tells what runs inside.
const droppedAnswerHeaders = ['keep-alive', 'proxy-connection', 'trailer', 'upgrade', 'server', 'x-powered-by'];

export function createUpstreams(options: Options): Upstreams {
  // How many sockets there are is bounded by `mostOpen`: a request that waits for one unseen would be a queue without end.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 128, scheduling: 'lifo' });
  const all = upstreamNames.map((name) => createUpstream(name, agent, options));
  const upstreams = new Map(all.map((upstream) => [upstream.name, upstream]));
  const byName = (read: (upstream: Upstream) => number) =>
    Object.fromEntries(all.map((upstream) => [upstream.name, read(upstream)]));
  return {
    forward: (name, exchange) => upstreams.get(name)?.forward(exchange),
    ended: (exchange) => {
      letGo(exchange);
      if (exchange.upstream) exchange.upstream.open -= 1;
      exchange.upstream = undefined;
    },
    url: (name) => options.urls[name],
    open: () => byName(({ open }) => open),
    usable: () => byName(({ replicas }) => replicas.usable),
    start: async () => {
      await Promise.all(all.map(({ replicas }) => replicas.start()));
    },
    close: () => {
      for (const { replicas } of all) replicas.stop();
      agent.destroy();
    },
  };
}

type Upstream = ReturnType<typeof createUpstream>;

function createUpstream(name: UpstreamName, agent: Agent, options: Options) {
  const { urls, times, mostOpen, logger, find = findByName } = options;
  const replicas = new Replicas({ name, url: urls[name], times, find, logger });
  const handler: RequestHandler<EdgeRequest> = createProxyMiddleware<EdgeRequest, ServerResponse>({
    router: ({ exchange }) => exchange?.replica?.target as Replica['target'],
    agent,
    changeOrigin: true,
    ejectPlugins: true,
    plugins: [
      (proxy) => {
        proxy.on('proxyReq', (upstreamRequest, { exchange }) => {
          if (exchange) exchange.upstreamRequest = upstreamRequest;
          boundConnecting(upstreamRequest, times.connectMs);
        });
        proxy.on('proxyRes', (answer, req) => begin(answer, req, options));
        proxy.on('error', (error, req) => {
          if (req?.exchange) failed(req.exchange, error);
        });
        proxy.on('econnreset', () => {}); // the client went away
      },
    ],
  });

  const forward = (exchange: Exchange) => {
    if (upstream.open >= mostOpen)
      throw new ServiceError('unavailable', `The ${name} service has too much to do just now; try again.`);
    const replica = replicas.choose();
    if (!replica) throw isAway(name);
    upstream.open += 1;
    exchange.upstream = upstream;
    if (exchange.expectsContinue) exchange.res.writeContinue();
    send(exchange, replica);
  };

  const send = (exchange: Exchange, replica: Replica) => {
    exchange.replica = replica;
    replicas.sent(replica);
    const { req, res } = exchange;
    handler(req, res, (error) => failed(exchange, error)).catch((error: unknown) => failed(exchange, error));
  };

  const failed = (exchange: Exchange, error: unknown) => {
    const { req, res, replica } = exchange;
    letGo(exchange);
    if (res.destroyed || res.writableEnded || req.socket.destroyed) return;
    const { code } = error as { code?: string };
    if (replica) replicas.failed(replica, code);
    const mayRepeat = safeToRepeat.has(req.method ?? '') && !hasBody(req) && neverArrived.has(code ?? '');
    const next = mayRepeat && !res.headersSent && !exchange.wasRetried ? replicas.choose(replica) : undefined;
    if (next) {
      exchange.wasRetried = true;
      send(exchange, next);
      return;
    }
    logger.warn({ err: error, upstream: name, request_id: exchange.requestId }, 'a service did not answer');
    refuse(exchange, isAway(name));
  };

  const upstream = { name, replicas, open: 0, forward };
  return upstream;
}

const isAway = (name: UpstreamName) =>
  new ServiceError('unavailable', `The ${name} service is not available just now; try again.`);

// A replica that is gone without a word would keep a new connection waiting for minutes.
function boundConnecting({ socket }: ClientRequest, withinMs: number): void {
  if (!socket?.connecting) return;
  const late = onceLate(withinMs, () => {
    if (socket.connecting)
      socket.destroy(Object.assign(new Error('No connection was made in time.'), { code: 'ETIMEDOUT' }));
  });
  const made = () => clearTimeout(late);
  socket.once('connect', made).once('close', made);
}

function letGo(exchange: Exchange): void {
  const { replica, upstream } = exchange;
  if (!replica) return;
  exchange.replica = undefined;
  upstream?.replicas.over(replica);
}

function begin(answer: IncomingMessage, req: EdgeRequest, { onAnswer, isDraining }: Options): void {
  const { exchange } = req;
  if (!exchange) return;
  exchange.answerDue = undefined;
  // A chunked body makes us ask for the end of the connection, and then the answer says so for us.
  const isLeaving = answer.headers.connection === 'close' && req.headers['transfer-encoding'] === undefined;
  if (exchange.replica) exchange.upstream?.replicas.heard(exchange.replica, isLeaving);
  letGo(exchange);
  for (const name of droppedAnswerHeaders) delete answer.headers[name];
  if (isDraining()) exchange.isLast = true; // it may have begun before
  answer.headers.connection = exchange.res.shouldKeepAlive && !exchange.isLast ? 'keep-alive' : 'close';
  answer.statusMessage = ''; // the reason phrase is ours
  onAnswer(exchange, answer.statusCode ?? 502);
}
