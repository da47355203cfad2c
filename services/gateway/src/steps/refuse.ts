// The one place that answers a failure, whatever step it came from.
import { type ServiceError, toServiceError } from '@almanac/service-kit/errors';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { callOf, learn } from '../call.ts';
import { awaitsContinue } from '../connections/continue.ts';
import { closeAfter, dropBody } from '../connections/last-answers.ts';
import type { GatewayContext } from '../context.ts';
import { addDefaults, type DefaultHeader } from './default-headers.ts';

/** The last step: answers what another one has thrown. */
export const refuse =
  ({ defaults }: GatewayContext): ErrorRequestHandler =>
  (thrown, req, res, _next) =>
    answerFailure(req, res, thrown, defaults);

/**
 * Answers with the contract's error body, or RFC 6749's. When an answer is under way its connection is cut instead: a client
 * must not take a part for the whole.
 */
export function answerFailure(req: Request, res: Response, thrown: unknown, defaults: readonly DefaultHeader[]): void {
  const error = toServiceError(thrown);
  if (error.status >= 500) learn(res, { fault: error.cause ?? (error.kind === 'internal' ? error : undefined) });
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  // A client that was not told to send its body may send it or not: what comes next can't be told from a request.
  if (awaitsContinue(req)) closeAfter(req, res);
  const { isOAuth, meter } = callOf(res);
  addDefaults(res, defaults);
  const body = JSON.stringify(isOAuth ? oauthBody(error) : error.body);
  const headers = { ...meter?.headers(), ...error.headers };
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (error.kind === 'unavailable' && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', '1');
  res.statusCode = error.status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
  dropBody(req);
}

function oauthBody(error: ServiceError): { error: string; error_description: string } {
  const fault = error.kind === 'unavailable' ? 'temporarily_unavailable' : 'server_error';
  return { error: error.status < 500 ? 'invalid_request' : fault, error_description: error.errors.join(' ') };
}
