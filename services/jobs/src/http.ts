// Jobs over HTTP: the REST resources, the files of the folder store, and the mail folder.
import type { Route } from '@almanac/service-kit/api/route';
import { announceAct } from '@almanac/service-kit/messaging/audit';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { HttpServer } from '@almanac/service-kit/process/http-server';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { Express } from 'express';
import type { JobsContext } from './context.ts';
import type { EventStreams } from './events/event-streams.ts';
import { eventRoutes } from './events/events.routes.ts';
import { exportRoutes } from './exports/exports.routes.ts';
import { putWithinLimit } from './files/account-storage.ts';
import { isFolderStore } from './files/object-store/create-object-store.ts';
import { mountFolderServer } from './files/object-store/folder-server.ts';
import { importMappingRoutes } from './import-mappings/import-mappings.routes.ts';
import { importRoutes } from './imports/imports.routes.ts';
import { accountOf, requireOpenUpload } from './imports/uploaded/uploads.ts';
import { mountMailPages } from './mail/dev-pages.ts';
import { sampleRoutes } from './samples/samples.routes.ts';
import { deliveryRoutes } from './webhooks/endpoints/deliveries.routes.ts';
import { webhookEndpointRoutes } from './webhooks/endpoints/webhook-endpoints.routes.ts';

/** The routes of every REST resource that jobs owns. */
export function jobsRoutes(ctx: JobsContext, streams: EventStreams): Route[] {
  return [
    ...importRoutes(ctx),
    ...exportRoutes(ctx),
    ...importMappingRoutes(ctx),
    ...sampleRoutes(ctx),
    ...eventRoutes(ctx, streams),
    ...webhookEndpointRoutes(ctx),
    ...deliveryRoutes(ctx),
  ];
}

/** Builds the HTTP server; it listens only after `start`. */
export function createJobsHttp(ctx: JobsContext, runtime: ServiceRuntime, streams: EventStreams): HttpServer {
  const { publicUrl } = runtime.config;
  const { pool, store, mailer } = ctx;
  return runtime.httpServer({
    routes: jobsRoutes(ctx, streams),
    onRefused: (call, act) => announceAct(pgSql(pool), 'jobs', call, act),
    mount: (app: Express) => {
      if (isFolderStore(store))
        mountFolderServer(app, store, {
          requireUpload: (key) => requireOpenUpload(ctx, key),
          put: (key, source, options) => putWithinLimit(ctx, accountOf(key), key, source, options),
        });
      if (mailer?.folder) mountMailPages(app, { folder: mailer.folder, publicUrl });
    },
  });
}
