// How a service answers over HTTP: JSON, the contract's error body, and what is noted of an answer for its line in the log.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { toServiceError } from '../errors.ts';
import type { Logger } from '../observability/logger.ts';
import { toPostgresError } from '../postgres/errors.ts';

/** What is known of a request while it is answered. Express has its `locals` in the same place, so pages note theirs alike. */
export type Locals = { requestId: string; route?: string; accountId?: number };
export type Answering = ServerResponse & { locals: Locals };

/** Takes a request id from the edge if it looks like one, else makes one. */
export function readRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
}

/** Answers with JSON that is text already, or its bytes. As a string it leaves in one write together with the headers. */
export function sendText(res: ServerResponse, status: number, text: string | Buffer): void {
  const bytes = Buffer.byteLength(text);
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', bytes);
  // A string of ASCII alone has the same bytes in Latin-1, of which no step of its way has to count or convert them.
  res.end(text, text.length === bytes ? 'latin1' : 'utf8');
}

/** Answers with a value as JSON. */
export const sendJson = (res: ServerResponse, status: number, value: unknown): void =>
  sendText(res, status, JSON.stringify(value));

/** Sends a failure in the contract's form; server faults are logged with their cause. */
export function sendError(res: Answering, thrown: unknown, logger: Logger): void {
  const error = toServiceError(toPostgresError(thrown));
  if (error.status >= 500) logger.error({ err: error.cause ?? error, request_id: res.locals.requestId }, error.message);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  if (error.kind === 'unavailable' && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', '1');
  sendJson(res, error.status, error.body);
}
