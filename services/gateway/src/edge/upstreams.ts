// Forwards requests to the services: a read that can't have been done is sent once more, a client that goes away takes its upstream
// request with it, a service that is away is a 503, and none holds more of us than its share.
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/logger';
import { offersTrunks } from '@almanac/service-kit/trunk-http';
import { type UpstreamName, type UpstreamTimes, upstreamNames } from '../config.ts';
import { Connections } from './connections.ts';
import { type Exchange, refuse } from './exchange.ts';
import { Forwarding } from './forwarder.ts';
import { hasBody } from './framing.ts';
import { type FindReplicas, findByName, type Replica, Replicas } from './replicas.ts';

export type Upstreams = {
  /**
   * Forwards the request with these headers, name after value; `onAnswer` is called when a service's answer begins. Throws 503 when it can't be
   * sent anywhere.
   */
  forward(name: UpstreamName, exchange: Exchange, headers: string[]): void;
  /** The exchange is over, whyever. */
  ended(exchange: Exchange): void;
  /** Fetches a document of a service for the gateway itself. */
  url(name: UpstreamName): string;
  /** Requests under way, by service. */
  open(): Record<string, number>;
  /** Replicas that take requests, by service. */
  usable(): Record<string, number>;
  start(): Promise<void>;
  close(): Promise<void>;
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
  /** An answer begins; answers headers of the gateway's own for it. */
  onAnswer(exchange: Exchange, status: number): Record<string, string> | undefined;
};

const safeToRepeat = new Set(['GET', 'HEAD']);
// The connection was never made, or a kept one was closed by the other side as we took it up.
const neverArrived = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
// undici's own names for two of them.
const systemCodes: Record<string, string> = { UND_ERR_SOCKET: 'ECONNRESET', UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT' };
// The answer's own framing is ours, as is what is left of the allowance, and nothing tells what runs inside.
const droppedAnswerHeaders = new Set([
  'connection',
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
]);

export function createUpstreams(options: Options): Upstreams {
  const all = upstreamNames.map((name) => createUpstream(name, options));
  const upstreams = new Map(all.map((upstream) => [upstream.name, upstream]));
  const byName = (read: (upstream: Upstream) => number) =>
    Object.fromEntries(all.map((upstream) => [upstream.name, read(upstream)]));
  return {
    forward: (name, exchange, headers) => upstreams.get(name)?.forward(exchange, headers),
    ended: (exchange) => {
      exchange.forwarding?.drop();
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
    close: async () => {
      await Promise.all(all.map(({ replicas }) => replicas.stop()));
    },
  };
}

type Upstream = ReturnType<typeof createUpstream>;

function createUpstream(name: UpstreamName, options: Options) {
  const { urls, times, mostOpen, logger, find = findByName } = options;
  const { host } = new URL(urls[name]);
  const open = (origin: string) => new Connections(origin, times.connectMs);
  const replicas = new Replicas({ name, url: urls[name], times, find, open, logger });

  const forward = (exchange: Exchange, headers: string[]) => {
    if (upstream.open >= mostOpen)
      throw new ServiceError('unavailable', `The ${name} service has too much to do just now; try again.`);
    const replica = replicas.choose();
    if (!replica) throw isAway(name);
    upstream.open += 1;
    exchange.upstream = upstream;
    headers.push('host', host);
    exchange.sentHeaders = headers;
    if (exchange.expectsContinue) exchange.res.writeContinue();
    exchange.expectsContinue = false;
    send(exchange, replica, headers);
  };

  const send = (exchange: Exchange, replica: Replica, headers: string[]) => {
    exchange.replica = replica;
    replicas.sent(replica);
    const forwarding = new Forwarding(exchange, events);
    exchange.forwarding = forwarding;
    forwarding.send(replica.connections.choose(exchange), headers);
  };

  const fails = (exchange: Exchange, error: Error) => {
    const { req, res, replica, sentHeaders } = exchange;
    letGo(exchange);
    if (res.destroyed || res.writableEnded || req.socket.destroyed) return;
    const { code } = error as { code?: string };
    const systemCode = systemCodes[code ?? ''] ?? code ?? '';
    if (replica) replicas.failed(replica, systemCode);
    const mayRepeat = safeToRepeat.has(req.method ?? '') && !hasBody(req) && neverArrived.has(systemCode);
    const next = mayRepeat && !res.headersSent && !exchange.wasRetried ? replicas.choose(replica) : undefined;
    if (next && sentHeaders) {
      exchange.wasRetried = true;
      send(exchange, next, sentHeaders);
      return;
    }
    const what = res.headersSent ? 'a service broke off its answer' : 'a service did not answer';
    logger.warn({ err: error, upstream: name, request_id: exchange.requestId }, what);
    refuse(exchange, isAway(name));
  };

  const events = { fails, begins: answerHeaders(options) };
  const upstream = { name, replicas, open: 0, forward };
  return upstream;
}

const isAway = (name: UpstreamName) =>
  new ServiceError('unavailable', `The ${name} service is not available just now; try again.`);

function letGo(exchange: Exchange): void {
  const { replica, upstream } = exchange;
  if (!replica) return;
  exchange.replica = undefined;
  upstream?.replicas.over(replica);
}

// What is known of the call when its answer begins, and the headers the client gets with it.
const answerHeaders =
  ({ onAnswer, isDraining }: Options) =>
  (exchange: Exchange, status: number, headers: IncomingHttpHeaders): (string | string[])[] => {
    exchange.answerDue = undefined;
    const isLeaving = headers.connection === 'close' && !exchange.wasRetried; // a fresh connection ends as we wish
    if (exchange.replica) exchange.upstream?.replicas.heard(exchange.replica, isLeaving);
    if (offersTrunks(headers.upgrade)) exchange.replica?.connections.offered();
    letGo(exchange);
    if (isDraining()) exchange.isLast = true; // it may have begun before
    const sent: (string | string[])[] = [];
    for (const name in headers)
      if (!droppedAnswerHeaders.has(name)) sent.push(name, headers[name] as string | string[]);
    // What is named here replaces what was set before: an answer depends on the origin, too.
    const ownVary = exchange.res.getHeader('vary');
    if (headers.vary !== undefined && ownVary !== undefined) sent.push('Vary', String(ownVary));
    for (const [name, small, value] of exchange.defaults) if (headers[small] === undefined) sent.push(name, value);
    if (headers['x-request-id'] === undefined) sent.push('X-Request-Id', exchange.requestId);
    sent.push('Connection', exchange.res.shouldKeepAlive && !exchange.isLast ? 'keep-alive' : 'close');
    const own = onAnswer(exchange, status);
    for (const name in own) sent.push(name, own[name] as string);
    return sent;
  };
