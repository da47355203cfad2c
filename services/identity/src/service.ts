// The only place that constructs identity's parts, and the order in which they start.
import { join } from 'node:path';
import { createPool } from '@almanac/service-kit/database';
import { createFrame, createLifecycle, type Overrides } from '@almanac/service-kit/frame';
import { createLogger } from '@almanac/service-kit/logger';
import { migrate } from '@almanac/service-kit/migrate';
import { createOutboxRelay } from '@almanac/service-kit/outbox';
import type { Service } from '@almanac/service-kit/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/watched-parts';
import { consumeAuditMessages } from './audit-messages.ts';
import type { IdentityConfig } from './config.ts';
import type { IdentityContext } from './context.ts';
import { createPrisma } from './database.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createIdentityHttp } from './http.ts';
import { createPageSigner } from './page-signer.ts';
import { createPasswords } from './passwords.ts';
import { createOwnRights } from './permissions.ts';
import { consumeResourceEvents } from './resource-events.ts';
import { createIdentityRpc } from './rpc.ts';
import { createSigningKeys } from './signing-keys.ts';
import { createThrottle } from './throttle.ts';

const migrations = join(import.meta.dirname, '../prisma/migrations');

/** Brings the database up to date. */
export async function migrateIdentity(config: IdentityConfig, { log }: Overrides = {}): Promise<void> {
  const logger = createLogger('identity', config.common.logLevel, log);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory: migrations, logger });
}

/** Builds the service; nothing connects or listens until `start`. */
export async function createIdentity(
  config: IdentityConfig,
  overrides: Overrides = {},
): Promise<Service<IdentityContext>> {
  const frame = await createFrame(config.common, overrides);
  const { logger, bus } = frame;
  const { databaseUrl, keyEncryptionKey, previousKeyEncryptionKey } = config.secrets;
  const pool = createPool({ url: databaseUrl, name: frame.instance, logger });
  const prisma = createPrisma(pool);
  const billing = frame.rpcClient('billing', config.billingRpc);
  const context: IdentityContext = {
    config,
    logger,
    prisma,
    billing: billing.client,
    rights: createOwnRights(prisma),
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
  watchPools(frame.metrics, { identity: pool });
  watchOutbox(frame.metrics, [relay]);
  const housekeeping = createHousekeeping(prisma, config, logger);
  const rpc = createIdentityRpc(context, frame);
  const http = createIdentityHttp(context, frame);
  frame.health.need('database', () => pool.query('select 1'));

  const lifecycle = createLifecycle(frame, [
    { name: 'migrations', start: () => migrateIdentity(config, overrides) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => pool.end()) },
    { name: 'signing keys', start: () => context.keys.start() },
    { name: 'billing', stop: () => billing.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'outbox', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'resource events', start: () => consumeResourceEvents(context, bus) },
    { name: 'audit messages', start: () => consumeAuditMessages(context, bus) },
    { name: 'housekeeping', start: async () => housekeeping.start(), stop: () => housekeeping.stop() },
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
