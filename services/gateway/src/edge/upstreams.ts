// Forwards requests to the services over kept connections: bodies flow through unread, a client that goes away takes its upstream
// request with it, and a service that is away is a 503. By hand on node:http: what a proxy library adds costs a call as much again.
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Logger } from '@almanac/service-kit/logger';
import { type UpstreamName, upstreamNames } from '../config.ts';
import { type Exchange, refuse } from './exchange.ts';
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
  const targets = new Map(upstreamNames.map((name) => [name, targetOf(urls[name])]));

  const send = (name: UpstreamName, exchange: Exchange) => {
    const { req, res } = exchange;
    if (exchange.expectsContinue && !exchange.wasRetried) res.writeContinue();
    const { hostname, port, host } = targets.get(name) as Target;
    const headers = { ...req.headers, host };
    // A body of unknown length is the last on its connection, so that nobody can hide a second request in it.
    if (headers['transfer-encoding'] !== undefined) headers.connection = 'close';
    const outgoing = request({ agent, hostname, port, method: req.method, path: req.url, headers, setHost: false });
    outgoing.once('socket', () => {
      exchange.upstreamRequest = outgoing;
    });
    res.once('close', () => {
      if (!res.writableFinished) outgoing.destroy();
    });
    outgoing.on('error', (error) => failed(name, exchange, error));
    outgoing.once('response', (answer) => {
      drainAfterEarlyAnswer(req, outgoing, answer);
      if (res.headersSent) answer.resume();
      else {
        begin(answer, exchange, onAnswer);
        relay(answer, res);
      }
    });
    if (hasBody(req)) req.pipe(outgoing);
    else outgoing.end();
  };

  const forward = (name: UpstreamName, exchange: Exchange) => {
    try {
      send(name, exchange);
    } catch (error) {
      failed(name, exchange, error);
    }
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

type Target = { hostname: string; port: string | undefined; host: string };

function targetOf(url: string): Target {
  const { hostname, port, host } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: port || undefined, host };
}

// A service that answers before it has got all of the body reads no more of it.
function drainAfterEarlyAnswer(req: IncomingMessage, outgoing: ClientRequest, answer: IncomingMessage): void {
  if (outgoing.writableFinished) return;
  const drain = () => {
    if (outgoing.writableFinished || outgoing.destroyed) return;
    req.unpipe(outgoing);
    req.resume();
    outgoing.destroy();
  };
  answer.once('end', drain);
  answer.once('close', drain);
}

function begin(answer: IncomingMessage, exchange: Exchange, onAnswer: Options['onAnswer']): void {
  const { req, res } = exchange;
  const { headers, statusCode = 502 } = answer;
  exchange.answerDue = undefined;
  for (const name of droppedAnswerHeaders) delete headers[name];
  const isOld = req.httpVersion === '1.0';
  if (isOld || statusCode === 204 || statusCode === 304) delete headers['transfer-encoding'];
  headers.connection = res.shouldKeepAlive && !exchange.isLast && !isOld ? 'keep-alive' : 'close';
  onAnswer(exchange, statusCode);
  for (const name in headers) res.setHeader(name, headers[name] as string | string[]);
  res.statusCode = statusCode;
}

// Most answers come whole in one piece, which then leaves in one.
function relay(answer: IncomingMessage, res: ServerResponse): void {
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  const cut = () => {
    if (!answer.complete) res.destroy();
  };
  answer.once('error', cut);
  answer.once('close', cut);
  res.once('close', () => {
    if (!answer.complete) answer.destroy();
  });
  answer.once('data', (chunk: Buffer) => {
    if (chunk.length === length) {
      res.end(chunk);
      return;
    }
    res.write(chunk);
    answer.pipe(res, { end: false });
  });
  answer.once('end', () => {
    if (!res.writableEnded) res.end();
  });
}
