// The composition root: constructs every part of identity and starts them in order.

import { join } from 'node:path';
import { createOutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import { createLifecycle, createServiceRuntime, type Overrides } from '@almanac/service-kit/process/service-runtime';
import { createDeletionRounds } from './accounts/account-deletion.ts';
import { createIdentityErasure } from './accounts/erase-account.ts';
import { consumeErasureReports } from './accounts/erasure-reports.ts';
import { consumeAuditMessages } from './audit/audit-messages.ts';
import type { IdentityConfig } from './config.ts';
import type { IdentityContext } from './context.ts';
import { consumeResourceEvents } from './groups/resource-events.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createIdentityHttp } from './http.ts';
import { createPasswords } from './passwords/passwords.ts';
import { createLocalRights } from './permissions/effective-permissions.ts';
import { createIdentityRpc } from './rpc.ts';
import { createPageSigner } from './security/page-signer.ts';
import { createThrottle } from './security/throttle.ts';
import { createSigningKeys } from './tokens/signing-keys.ts';
import { createPrisma } from './transaction.ts';

const migrations = join(import.meta.dirname, '../prisma/migrations');

/** Applies pending migrations to identity's database. */
export async function migrateIdentity(config: IdentityConfig, { log }: Overrides = {}): Promise<void> {
  const logger = createLogger('identity', config.common.logLevel, log);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory: migrations, logger });
}

/** Builds the service. It connects and listens only after `start`. */
export async function createIdentity(
  config: IdentityConfig,
  overrides: Overrides = {},
): Promise<Service<IdentityContext>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { logger, bus } = runtime;
  const { databaseUrl, keyEncryptionKey, previousKeyEncryptionKey } = config.secrets;
  const pool = createPool({ url: databaseUrl, name: runtime.instance, logger });
  const prisma = createPrisma(pool);
  const billing = runtime.rpcClient('billing', config.billingRpc);
  const context: IdentityContext = {
    config,
    logger,
    prisma,
    billing: billing.client,
    rights: createLocalRights(prisma),
    keys: createSigningKeys({
      prisma,
      encryptionKey: keyEncryptionKey,
      previousEncryptionKey: previousKeyEncryptionKey,
      accessTokenSeconds: config.accessTokenSeconds,
    }),
    passwords: createPasswords(config.passwordMemoryKib),
    pageSigner: createPageSigner(keyEncryptionKey),
    throttle: createThrottle(pool),
  };
  const relay = createOutboxRelay({ pool, bus, logger });
  watchPools(runtime.metrics, { identity: pool });
  watchOutbox(runtime.metrics, [relay]);
  const rpc = createIdentityRpc(context, runtime);
  const http = createIdentityHttp(context, runtime);
  runtime.health.addReadinessCheck('database', () => pool.query('select 1'));

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrateIdentity(config, overrides) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => pool.end()) },
    { name: 'signing keys', start: () => context.keys.start() },
    { name: 'billing', stop: () => billing.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'outbox', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'resource events', start: () => consumeResourceEvents(context, bus) },
    { name: 'audit messages', start: () => consumeAuditMessages(context, bus) },
    { name: 'erasure reports', start: () => consumeErasureReports(context, bus) },
    createIdentityErasure(pool, bus, logger),
    createDeletionRounds(context, logger),
    createHousekeeping(prisma, config, logger),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
