// The first step: a request gets its id, and in the end its line in the log, its measurement and its span.
import { readRequestId } from '@almanac/service-kit/http/answer';
import { apiPrefix, pathOf, readPath } from '@almanac/service-kit/http/path';
import { createAccessLogger } from '@almanac/service-kit/observability/logger';
import { traceRequest } from '@almanac/service-kit/observability/tracing/calls';
import { type Carrier, tracing } from '@almanac/service-kit/observability/tracing/tracing';
import type { Request, RequestHandler, Response } from 'express';
import { openCall as begin, callOf, whenOver } from '../call.ts';
import { closeAfter } from '../connections/last-answers.ts';
import type { GatewayContext } from '../context.ts';
import { clientAddress } from '../forwarding/forwarded-headers.ts';
import { oauthPrefix } from '../open-addresses.ts';

/** Health is asked for all day: it has no line in the log, and is answered under any load. */
export const quietPaths = new Set(['/healthz', '/readyz']);

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

/** Opens a call, and records it when its answer is over. */
export function openCall({ config, runtime: { health, logger, metrics } }: GatewayContext): RequestHandler {
  const accessLog = createAccessLogger(logger);

  const record = (req: Request, res: Response) => {
    const { path, route, token, startedAt, requestId, fault } = callOf(res);
    if (fault) logger.error({ err: fault, request_id: requestId }, 'a request could not be served');
    if (quietPaths.has(path)) return;
    const ms = performance.now() - startedAt;
    const aborted = !res.writableFinished;
    const status = aborted && !res.headersSent ? 499 : res.statusCode;
    metrics.httpDuration.observe(
      { service: 'gateway', method: methodOf(req), route: route?.path ?? 'none', status },
      ms / 1000,
    );
    const line: Record<string, unknown> = {
      request_id: requestId,
      method: req.method.slice(0, 16),
      path: path.slice(0, 512),
      status,
      ms: Math.round(ms * 100) / 100,
    };
    if (token) {
      line.account_id = token.accountId;
      line.application_id = token.applicationId;
      line.user_id = token.userId;
    }
    if (aborted) line.aborted = true;
    accessLog.info(line, 'request');
  };

  return (req, res, next) => {
    const path = pathOf(req.url);
    begin(res, {
      requestId: readRequestId(req.headers['x-request-id']),
      startedAt: performance.now(),
      path,
      clientAddress: clientAddress(req, config.trustedHops),
      isOAuth: isOAuthPath(path),
    });
    whenOver(res, () => record(req, res));
    if (health.isDraining) closeAfter(req, res);
    if (tracing) traced(req, res, next);
    else next();
  };
}

// The form of a failure is known before it is known what is wrong. Another spelling of a path may lead elsewhere; a slash
// behind it does not.
const isOAuthPath = (path: string) => path.startsWith(oauthPrefix) && readPath(path.replace(/\/$/, '')) !== undefined;

const methodOf = ({ method }: Request) => (knownMethods.has(method) ? method : 'OTHER');

// The span begins before anything is known of the call, and the service's own is a part of it: its context replaces the
// client's.
function traced(req: Request, res: Response, next: () => void): void {
  if (!tracing) return;
  const work = (carrier: Carrier) => {
    Object.assign(req.headers, carrier);
    next();
  };
  traceRequest(tracing, req, res, work, () => {
    const { route, requestId } = callOf(res);
    return {
      method: methodOf(req),
      route: route && `${apiPrefix}${route.path}`,
      facts: { 'almanac.request_id': requestId },
    };
  });
}
