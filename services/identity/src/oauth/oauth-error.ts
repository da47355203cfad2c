// Errors of /oauth/*: RFC 6749's `error` and `error_description` instead of the API's error body.
import { toServiceError } from '@almanac/service-kit/errors';
import { toPostgresError } from '@almanac/service-kit/postgres/errors';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { IdentityContext } from '../context.ts';

/** The error codes in use: those of RFC 6749, and slow_down of RFC 8628. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'slow_down'
  | 'server_error'
  | 'temporarily_unavailable';

/** An error that the client may see. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    code: OAuthErrorCode,
    description: string,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
    this.status = options.status ?? 400;
    this.headers = options.headers ?? {};
  }
}

/** The error for an invalid grant. It doesn't say why, so that a guess reveals nothing. */
export function invalidGrant(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The code or refresh token is invalid, expired, used, revoked, or was issued to another client.',
  );
}

/** Converts any error to one of this protocol; internal errors are logged. */
export function toOAuthError(ctx: IdentityContext, res: Response, thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  const status = (thrown as { status?: unknown }).status;
  if (status === 413) return new OAuthError('invalid_request', 'The request is too large.', { status: 413 });
  const error = toServiceError(toPostgresError(thrown));
  if (error.status < 500) return new OAuthError('invalid_request', 'The request could not be read.');
  ctx.logger.error({ err: error.cause ?? error, request_id: res.locals.requestId }, error.message);
  if (error.kind === 'unavailable')
    return new OAuthError('temporarily_unavailable', 'The service is not available; try again.', {
      status: 503,
      headers: { 'Retry-After': '1' },
    });
  return new OAuthError('server_error', 'Something went wrong on our side.', { status: 500 });
}

/** An endpoint for programs: responses are never cached, and errors have RFC 6749's form. */
export function oauthEndpoint(
  ctx: IdentityContext,
  path: string,
  work: (req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req: Request, res: Response, _next: NextFunction) => {
    res.locals.route = path;
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      await work(req, res);
    } catch (thrown) {
      const error = toOAuthError(ctx, res, thrown);
      res.status(error.status).set(error.headers).json({ error: error.code, error_description: error.message });
    }
  };
}

/** Responds 404 to unknown paths. */
export const unknownPath: RequestHandler = (_req, res) => {
  res.status(404).set('Cache-Control', 'no-store');
  res.json({ error: 'invalid_request', error_description: 'There is nothing at this address.' });
};

/** Responds 405 to every other method. */
export function onlyMethods(allowed: string): RequestHandler {
  return (_req, res) => {
    res.status(405).set({ Allow: allowed, 'Cache-Control': 'no-store' });
    res.json({ error: 'invalid_request', error_description: `Use ${allowed}.` });
  };
}
