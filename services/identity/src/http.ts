// Identity's HTTP server: the REST resources it owns, and the OAuth server.

import type { Route } from '@almanac/service-kit/api/route';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { accountRoutes } from './accounts/account.routes.ts';
import { applicationRoutes } from './applications/applications.routes.ts';
import { auditEventRoutes } from './audit/audit-events.routes.ts';
import { recordAct } from './audit/audit-log.ts';
import { mountConsoleSession } from './browser/console-session.ts';
import type { IdentityContext } from './context.ts';
import { userGroupAssignmentRoutes } from './groups/user-group-assignments.routes.ts';
import { userGroupRoutes } from './groups/user-groups.routes.ts';
import { meRoutes } from './me/me.routes.ts';
import { oauthDocument } from './oauth/oauth-document.ts';
import { mountOAuth } from './oauth.routes.ts';
import { permissionRoutes } from './permissions/permissions.routes.ts';
import { peopleRoutes } from './users/people.routes.ts';
import { refreshTokenRoutes } from './users/refresh-tokens.routes.ts';
import { userRoutes } from './users/users.routes.ts';

/** The routes of every REST resource that identity owns. */
export function identityRoutes(ctx: IdentityContext): Route[] {
  return [
    ...accountRoutes(ctx),
    ...meRoutes(ctx),
    ...peopleRoutes(ctx),
    ...userRoutes(ctx),
    ...refreshTokenRoutes(ctx),
    ...userGroupRoutes(ctx),
    ...userGroupAssignmentRoutes(ctx),
    ...permissionRoutes(ctx),
    ...applicationRoutes(ctx),
    ...auditEventRoutes(ctx),
  ];
}

/** Builds the HTTP server; it listens only after `start`. */
export function createIdentityHttp(ctx: IdentityContext, runtime: ServiceRuntime): HttpServer {
  return runtime.httpServer({
    routes: identityRoutes(ctx),
    onRefused: (call, act) => recordAct(ctx.prisma, call, act),
    mount: (app) => {
      mountOAuth(ctx)(app);
      mountConsoleSession(app, ctx);
    },
    described: oauthDocument(),
  });
}
