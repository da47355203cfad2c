// The first step: gives a request its id; when it ends, writes its access line, metric and span.
import { isEventStream, readRequestId } from '@almanac/service-kit/http/answer';
import { apiPrefix, consolePrefix, pathOf, readPath } from '@almanac/service-kit/http/path';
import { createAccessLogger } from '@almanac/service-kit/observability/logger';
import { traceRequest } from '@almanac/service-kit/observability/tracing/calls';
import { type Carrier, tracing } from '@almanac/service-kit/observability/tracing/tracing';
import type { Request, RequestHandler, Response } from 'express';
import { callOf, onClose, setCall } from '../call.ts';
import { clientAddress } from '../connections/client-address.ts';
import { closeAfter } from '../connections/closing-connections.ts';
import type { GatewayContext } from '../context.ts';
import { oauthPrefix } from '../public-paths.ts';

/** Health checks come every few seconds: they are not logged, and are answered under any load. */
export const healthPaths = new Set(['/healthz', '/readyz']);

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

/** Starts a call, and records it when its response closes. */
export function startCall({ config, runtime: { health, logger, metrics } }: GatewayContext): RequestHandler {
  const accessLog = createAccessLogger(logger);

  const record = (req: Request, res: Response) => {
    const { path, route, token, startedAt, requestId, fault } = callOf(res);
    if (fault) logger.error({ err: fault, request_id: requestId }, 'a request could not be served');
    if (healthPaths.has(path)) return;
    const ms = performance.now() - startedAt;
    const aborted = !res.writableFinished;
    const status = aborted && !res.headersSent ? 499 : res.statusCode;
    if (!isEventStream(res))
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
    if (token?.session) line.channel = 'console';
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
    setCall(res, {
      requestId: readRequestId(req.headers['x-request-id']),
      startedAt: performance.now(),
      path,
      clientAddress: clientAddress(req, config.trustedHops),
      isConsole: config.console && path.startsWith(consolePrefix),
      isOAuth: isOAuthPath(path),
    });
    onClose(res, () => record(req, res));
    if (health.isDraining) closeAfter(req, res);
    if (tracing) traced(req, res, next);
    else next();
  };
}

// Decides the form of error answers before any check has run. A trailing slash does not change it;
// another spelling of the path is not an OAuth path.
const isOAuthPath = (path: string) => path.startsWith(oauthPrefix) && readPath(path.replace(/\/$/, '')) !== undefined;

const methodOf = ({ method }: Request) => (knownMethods.has(method) ? method : 'OTHER');

// The span begins before the route is known. Its trace context replaces the client's, so the
// service's span becomes its child.
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
