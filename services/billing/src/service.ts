// Constructs billing; no other file creates its parts. They start in the order of the list and stop
// in reverse.
import { join } from 'node:path';
import { createOutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql } from '@almanac/service-kit/postgres/database';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import { createLifecycle, createServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import { PrismaPg } from '@prisma/adapter-pg';
import { consumeAccountEvents } from './accounts/account-events.ts';
import type { BillingConfig } from './config.ts';
import type { BillingContext } from './context.ts';
import { createBillingErasure } from './erase-account.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { createBillingHttp } from './http.ts';
import { createLeaseMaintenance } from './leases/lease-maintenance.ts';
import { createBillingRpc } from './rpc.ts';

const directory = join(import.meta.dirname, '../prisma/migrations');

/** Migrates the database; several instances may do it at the same time. */
export async function migrateBilling(config: BillingConfig): Promise<void> {
  const logger = createLogger('billing', config.common.logLevel);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory, logger });
}

export async function createBilling(config: BillingConfig): Promise<Service<BillingContext>> {
  const runtime = await createServiceRuntime(config.common);
  const { logger, health, metrics, bus } = runtime;
  const { databaseUrl } = config.secrets;
  const pool = createPool({ url: databaseUrl, name: 'almanac-billing', max: 20, logger });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  const context: BillingContext = { pool, prisma, logger, leaseSeconds: config.leaseSeconds };
  health.addReadinessCheck('database', () => pgSql(pool)('select 1'));

  const relay = createOutboxRelay({ pool, bus, logger });
  watchPools(metrics, { billing: pool });
  watchOutbox(metrics, [relay]);
  metrics.gauge('almanac_call_leases_open', 'Open leases of gateways.', () => countOpenLeases(context));
  const rpc = createBillingRpc(context, runtime, config.rpcPort);
  const http = createBillingHttp(context, runtime, config.secrets.webhooks);

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrate({ databaseUrl, directory, logger }) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => (pool.ended ? undefined : pool.end())) },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'consumers', start: () => consumeAccountEvents(context, bus) },
    { name: 'relay', start: async () => relay.start(), stop: () => relay.stop() },
    createBillingErasure(context, bus),
    createLeaseMaintenance({ pool, logger, leaseSeconds: config.leaseSeconds }),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}

async function countOpenLeases(ctx: BillingContext): Promise<number> {
  const { rows } = await pgSql(ctx.pool)('select count(*) as open from call_lease where closed_at is null');
  return rows[0]?.open;
}
