// The only place that constructs metadata's parts. They start in the order of the list and stop in
// reverse.
import { join } from 'node:path';
import { createOutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql } from '@almanac/service-kit/postgres/database';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import { createLifecycle, createServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { createRightsCache } from '@almanac/service-kit/rights/rights-cache';
import { PrismaPg } from '@prisma/adapter-pg';
import type { MetadataConfig } from './config.ts';
import type { MetadataContext } from './context.ts';
import { consumeEvents } from './events.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { createMetadataHttp } from './http.ts';
import { createMetadataErasure } from './maintenance/erase-account.ts';
import { createReconciler } from './maintenance/reconciler.ts';
import { createMetadataRpc } from './rpc.ts';

const directory = join(import.meta.dirname, '../prisma/migrations');

/** Brings the database up to date; safe when several instances do it at once. */
export async function migrateMetadata(config: MetadataConfig): Promise<void> {
  const logger = createLogger('metadata', config.common.logLevel);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory, logger });
}

/** Builds the service; nothing connects or listens until `start`. */
export async function createMetadata(config: MetadataConfig): Promise<Service<MetadataContext>> {
  const runtime = await createServiceRuntime(config.common);
  const { logger, health, metrics, bus } = runtime;
  const { databaseUrl } = config.secrets;
  const pool = createPool({ url: databaseUrl, name: 'almanac-metadata', max: 20, logger });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  const identity = runtime.rpcClient('identity', config.neighbours.identity);
  const data = runtime.rpcClient('data', config.neighbours.data);
  const context: MetadataContext = {
    logger,
    prisma,
    rights: createRightsCache(identity.client, { isReceivingEvents: () => bus.isReady() }),
    identity: identity.client,
    data: data.client,
    timing: config.timing,
  };
  health.addReadinessCheck('database', () => pgSql(pool)('select 1'));

  const relay = createOutboxRelay({ pool, bus, logger });
  watchPools(metrics, { metadata: pool });
  watchOutbox(metrics, [relay]);
  const reconciler = createReconciler(context);
  const rpc = createMetadataRpc(context, runtime, config.rpcPort);
  const http = createMetadataHttp(context, runtime);

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrateMetadata(config) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => (pool.ended ? undefined : pool.end())) },
    { name: 'identity', stop: () => identity.close() },
    { name: 'data', stop: () => data.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'relay', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'events', start: () => consumeEvents(context, bus) },
    reconciler,
    createMetadataErasure(pool, bus, logger),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
