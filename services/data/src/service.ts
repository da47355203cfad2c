// The only place that constructs data's parts, and the order in which they start.
import { join } from 'node:path';
import { createFrame, createLifecycle } from '@almanac/service-kit/frame';
import { createLogger } from '@almanac/service-kit/logger';
import { migrate } from '@almanac/service-kit/migrate';
import { createOutboxRelay } from '@almanac/service-kit/outbox';
import { createRights, hearOfRights } from '@almanac/service-kit/remembered-rights';
import { createRpcClient } from '@almanac/service-kit/rpc-client';
import type { Service } from '@almanac/service-kit/run';
import { RowsAnnouncer } from './announce/rows-announcer.ts';
import { Catalogue } from './catalogue/catalogue.ts';
import type { DataConfig } from './config.ts';
import type { DataContext } from './context.ts';
import { closePools, createPools } from './database.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createDataHttp } from './http.ts';
import { createDataRpc } from './rpc.ts';

const migrations = join(import.meta.dirname, '../prisma/migrations');

/** Brings the database up to date. */
export async function migrateData(config: DataConfig): Promise<void> {
  const logger = createLogger('data', config.common.logLevel);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory: migrations, logger });
}

/** Builds the service; nothing connects or listens until `start`. */
export async function createData(config: DataConfig): Promise<Service<DataContext>> {
  const frame = await createFrame(config.common);
  const { logger, bus } = frame;
  const pools = createPools(config.secrets.databaseUrl, config.connections, logger);
  const identity = createRpcClient('identity', config.identityRpc, frame.signContext);
  const context: DataContext = {
    pools,
    catalogue: new Catalogue(pools.rows),
    rights: createRights(identity.client, { isHearing: () => bus.isReady() }),
    announcer: new RowsAnnouncer(pools, logger),
    logger,
  };
  const relay = createOutboxRelay({ pool: pools.outbox, bus, logger });
  const housekeeping = createHousekeeping(pools, logger);
  const rpc = createDataRpc(context, frame, config.rpcPort);
  const http = createDataHttp(context, frame);
  frame.health.add('database', () => pools.rows.query('select 1'));

  const lifecycle = createLifecycle(frame, [
    { name: 'migrations', start: () => migrateData(config) },
    { name: 'database', stop: () => closePools(pools) },
    { name: 'identity', stop: () => identity.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'rights', start: () => hearOfRights(bus, context.rights) },
    { name: 'outbox', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'rows announcer', start: () => context.announcer.start(), stop: () => context.announcer.stop() },
    { name: 'housekeeping', start: async () => housekeeping.start(), stop: () => housekeeping.stop() },
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
