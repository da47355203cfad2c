// One request and its answer, from the first look to the last byte: what is known of it, how it is answered, and what is
// written down when it is over.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ServiceError, toServiceError } from '@almanac/service-kit/errors';
import { readPath } from '@almanac/service-kit/path';
import type { AccountMeter, Ticket } from '../metering/account-meter.ts';
import type { ApiRoute } from '../routes.ts';
import type { Token } from '../tokens/token.ts';
import type { Replica, Replicas } from './replicas.ts';
import type { DefaultHeader } from './security-headers.ts';

export type EdgeRequest = IncomingMessage & { exchange?: Exchange };

export type Exchange = {
  req: EdgeRequest;
  res: ServerResponse;
  requestId: string;
  startedAt: number;
  path: string;
  route?: ApiRoute;
  token?: Token;
  /** The account, or the network, among whose requests under way it is. */
  caller?: number | string;
  /** Of the token's account: what is left of its allowance is told with every answer. */
  meter?: AccountMeter;
  ticket?: Ticket;
  /** What its answer carries unless who answers says otherwise. */
  defaults: readonly DefaultHeader[];
  /** Whether the client still waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  /** The body is a file: it may take as long as it moves. */
  isUpload: boolean;
  /** Failures are told in RFC 6749's form. */
  readonly isOAuth: boolean;
  /** When the first byte of a service's answer is due (performance.now); set while we wait for it. */
  answerDue?: number;
  /** The request to a service, with the headers it has. */
  forwarding?: { readonly wasSent: boolean; drop(): void; giveUp(error: Error): void };
  sentHeaders?: string[];
  /** The service that has it, and the replica of it whose answer it waits for. */
  upstream?: { replicas: Replicas; open: number };
  replica?: Replica;
  wasRetried: boolean;
  /** Why it could not be served, when that is no fault of the client's: for the log. */
  fault?: unknown;
  /** The connection ends with this answer. */
  isLast: boolean;
  /** Where it stands among the open ones. */
  place: number;
  /** For the sweep: socket counters and when they last moved enough. */
  progress: { read: number; written: number; at: number };
};

export const oauthPrefix = '/oauth/';

// Told before it is known what is wrong, and whether there is anything. Another spelling of a path may lead elsewhere; a slash behind it doesn't.
const isOAuthPath = (path: string) => path.startsWith(oauthPrefix) && readPath(path.replace(/\/$/, '')) !== undefined;

const goodRequestId = /^[A-Za-z0-9._-]{8,128}$/;

export function openExchange(
  req: EdgeRequest,
  res: ServerResponse,
  expectsContinue: boolean,
  isLast: boolean,
  defaults: readonly DefaultHeader[],
): Exchange {
  const given = req.headers['x-request-id'];
  const url = req.url ?? '';
  const query = url.indexOf('?');
  const startedAt = performance.now();
  const path = query === -1 ? url : url.slice(0, query);
  const exchange: Exchange = {
    req,
    res,
    requestId: typeof given === 'string' && goodRequestId.test(given) ? given : randomUUID(),
    startedAt,
    path,
    defaults,
    expectsContinue,
    isUpload: false,
    isOAuth: isOAuthPath(path),
    wasRetried: false,
    isLast,
    place: -1,
    progress: { read: req.socket.bytesRead, written: req.socket.bytesWritten, at: startedAt },
  };
  req.exchange = exchange;
  return exchange;
}

/** The answer is due `ms` from now; that of an upload, once all of it has come. */
export function expectAnswer(exchange: Exchange, ms: number): void {
  const expect = () => {
    if (!exchange.res.headersSent) exchange.answerDue = performance.now() + ms;
  };
  if (exchange.isUpload && !exchange.req.complete) exchange.req.once('end', expect);
  else expect();
}

const ending = new WeakSet<Socket>();

/** Makes this the last answer of its connection. What the client has sent behind it is nobody's request. */
export function closeAfter(exchange: Exchange): void {
  exchange.isLast = true;
  exchange.res.setHeader('Connection', 'close');
  ending.add(exchange.req.socket);
}

/** Whether a connection has had its last request. The parser goes on to the next one in the bytes that it has. */
export const isEnding = (socket: Socket): boolean => ending.has(socket);

/** Gives an answer of the gateway's own what every answer carries. A forwarded one gets it with its head. */
export function setDefaults({ res, requestId, defaults }: Exchange): void {
  res.setHeader('X-Request-Id', requestId);
  for (const [name, , value] of defaults) res.setHeader(name, value);
}

/** Answers with the contract's error body, or RFC 6749's. Nothing happens when an answer is under way: then the connection is cut. */
export function refuse(exchange: Exchange, thrown: unknown): ServiceError {
  const error = toServiceError(thrown);
  const { req, res } = exchange;
  if (error.status >= 500) exchange.fault = error.cause ?? (error.kind === 'internal' ? error : undefined);
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return error;
  }
  // A client that was not told to send its body may send it or not: nobody could tell what comes next.
  if (exchange.expectsContinue) closeAfter(exchange);
  setDefaults(exchange);
  const body = JSON.stringify(exchange.isOAuth ? oauthBody(error) : error.body);
  const headers = { ...exchange.meter?.headers(), ...error.headers };
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (error.kind === 'unavailable' && !res.hasHeader('retry-after')) res.setHeader('Retry-After', '1');
  res.statusCode = error.status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
  dropBody(req);
  return error;
}

function oauthBody(error: ServiceError): { error: string; error_description: string } {
  const fault = error.kind === 'unavailable' ? 'temporarily_unavailable' : 'server_error';
  return { error: error.status < 500 ? 'invalid_request' : fault, error_description: error.errors.join(' ') };
}

const lingerMs = 5_000;

/** A client that is still sending what nobody reads gets a moment to see the answer, then the connection ends. */
export function dropBody(req: IncomingMessage): void {
  if (req.complete) return;
  req.resume();
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, lingerMs);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
}
