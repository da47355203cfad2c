// Answers an error, whichever step threw it.
import { type ServiceError, toServiceError } from '@almanac/service-kit/errors';
import type { Request, Response } from 'express';
import { callOf, updateCall } from '../call.ts';
import { closeAfter } from '../connections/closing-connections.ts';
import { awaitsContinue, discardBody } from '../connections/request-body.ts';
import { type DefaultHeader, setDefaultHeaders } from './default-headers.ts';

/**
 * Answers with the contract's error body, or RFC 6749's on OAuth paths. When an answer has already
 * begun, the connection is closed: a client must not mistake half an answer for a whole one.
 */
export function answerError(req: Request, res: Response, thrown: unknown, defaults: readonly DefaultHeader[]): void {
  const error = toServiceError(thrown);
  if (error.status >= 500) updateCall(res, { fault: error.cause ?? (error.kind === 'internal' ? error : undefined) });
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  // Without `100 Continue` a client may send its body or not, so the bytes that follow could be a
  // body or another request.
  if (awaitsContinue(req)) closeAfter(req, res);
  const { isOAuth, meter } = callOf(res);
  setDefaultHeaders(res, defaults);
  const body = JSON.stringify(isOAuth ? oauthBody(error) : error.body);
  const headers = { ...meter?.headers(), ...error.headers };
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (error.kind === 'unavailable' && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', '1');
  res.statusCode = error.status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
  discardBody(req);
}

function oauthBody(error: ServiceError): { error: string; error_description: string } {
  const serverError = error.kind === 'unavailable' ? 'temporarily_unavailable' : 'server_error';
  return { error: error.status < 500 ? 'invalid_request' : serverError, error_description: error.errors.join(' ') };
}
