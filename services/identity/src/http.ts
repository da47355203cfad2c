// Identity over HTTP: the OAuth server, and the REST resources it owns.

import type { Route } from '@almanac/service-kit/api/route';
import { createHttpServer, type HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { accountRoutes } from './account.routes.ts';
import { applicationRoutes } from './applications.routes.ts';
import { recordActOf } from './audit.ts';
import { auditEventRoutes } from './audit-events.routes.ts';
import type { IdentityContext } from './context.ts';
import { mountOAuth } from './oauth/mount.ts';
import { userGroupAssignmentRoutes } from './user-group-assignments.routes.ts';
import { userGroupRoutes } from './user-groups.routes.ts';
import { userRoutes } from './users.routes.ts';

export function identityRoutes(ctx: IdentityContext): Route[] {
  return [
    ...accountRoutes(ctx),
    ...userRoutes(ctx),
    ...userGroupRoutes(ctx),
    ...userGroupAssignmentRoutes(ctx),
    ...applicationRoutes(ctx),
    ...auditEventRoutes(ctx),
  ];
}

export function createIdentityHttp(ctx: IdentityContext, runtime: ServiceRuntime): HttpServer {
  const { host, httpPort } = ctx.config.common;
  const { logger, health, metrics, verifyContext, httpTls: tls } = runtime;
  return createHttpServer({
    service: 'identity',
    host,
    port: httpPort,
    logger,
    health,
    metrics,
    verifyContext,
    tls,
    routes: identityRoutes(ctx),
    onRefused: (call, act) => recordActOf(ctx.prisma, call, act),
    mount: mountOAuth(ctx),
  });
}
