// Sends HTTP answers: JSON, and the contract's error body. Keeps the facts for the access log.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { toServiceError } from '../errors.ts';
import type { Logger } from '../observability/logger.ts';
import { toPostgresError } from '../postgres/errors.ts';
import { stringifyWithParts } from './json-text.ts';

/** The facts of a request while it is answered, where Express keeps its `locals`. */
export type Locals = { requestId: string; route?: string; accountId?: number };
export type Answering = ServerResponse & { locals: Locals };

/** The request id from the edge if it is well-formed, else a new one. */
export function readRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
}

/** Whether the answer is a stream of events, whose duration is its client's choice. */
export const isEventStream = (res: ServerResponse): boolean => res.getHeader('Content-Type') === 'text/event-stream';

/** Answers with JSON text or bytes. A string leaves in one write with the headers. */
export function sendText(res: ServerResponse, status: number, text: string | Buffer): void {
  const bytes = Buffer.byteLength(text);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', bytes);
  // ASCII has the same bytes in Latin-1, which Node writes without counting or converting.
  res.end(text, text.length === bytes ? 'latin1' : 'utf8');
}

/** Answers with a value as JSON. */
export const sendJson = (res: ServerResponse, status: number, value: unknown): void =>
  sendText(res, status, JSON.stringify(value));

/** Sends a failure in the contract's form, and logs server faults with their cause. */
export function sendError(res: Answering, thrown: unknown, logger: Logger): void {
  const error = toServiceError(toPostgresError(thrown));
  if (error.status >= 500) logger.error({ err: error.cause ?? error, request_id: res.locals.requestId }, error.message);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  if (error.kind === 'unavailable' && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', '1');
  sendText(res, error.status, stringifyWithParts(error.body));
}
