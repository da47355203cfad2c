// The REST endpoints of jobs.
import type { Route } from '@almanac/service-kit/api/route';
import type { JobsContext } from './context.ts';
import { exportRoutes } from './exports/exports.routes.ts';
import { importMappingRoutes } from './import-mappings/import-mappings.routes.ts';
import { importRoutes } from './imports/imports.routes.ts';
import { sampleRoutes } from './samples/samples.routes.ts';

/** Every endpoint this service answers under /api/v1. */
export function jobsRoutes(ctx: JobsContext): Route[] {
  return [...importRoutes(ctx), ...exportRoutes(ctx), ...importMappingRoutes(ctx), ...sampleRoutes(ctx)];
}
