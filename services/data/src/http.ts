// Data over HTTP: the rows.
import type { Frame } from '@almanac/service-kit/frame';
import { createHttpServer, type HttpServer } from '@almanac/service-kit/http';
import type { Route } from '@almanac/service-kit/route';
import type { DataContext } from './context.ts';
import { tableDataRoutes } from './rows/table-data.routes.ts';

export function dataRoutes(ctx: DataContext): Route[] {
  return [...tableDataRoutes(ctx)];
}

export function createDataHttp(ctx: DataContext, frame: Frame): HttpServer {
  const { host, httpPort } = frame.config;
  const { logger, health, metrics, verifyContext } = frame;
  return createHttpServer({
    service: 'data',
    host,
    port: httpPort,
    logger,
    health,
    metrics,
    verifyContext,
    routes: dataRoutes(ctx),
  });
}
