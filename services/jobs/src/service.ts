// Jobs, put together: the only place that constructs things. Parts start in the order of the list and stop in reverse.
import { join } from 'node:path';
import { announceAct } from '@almanac/service-kit/messaging/audit';
import { createOutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql } from '@almanac/service-kit/postgres/database';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import { createHttpServer } from '@almanac/service-kit/process/http-server';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import {
  createLifecycle,
  createServiceRuntime,
  type Overrides,
  type ServiceRuntime,
} from '@almanac/service-kit/process/service-runtime';
import { createRightsCache, invalidateOnEvents } from '@almanac/service-kit/rights/rights-cache';
import { createRpcServer } from '@almanac/service-kit/rpc/server';
import { PrismaPg } from '@prisma/adapter-pg';
import { z } from 'zod';
import type { JobsConfig } from './config.ts';
import type { Context } from './context.ts';
import { exportHandler } from './exports/export-work.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { routes } from './http.ts';
import { consumeClones } from './import-mappings/cloned-definitions.ts';
import { importTableHandler } from './imports/import-work.ts';
import { accountOf, requireOpenUpload } from './imports/uploads.ts';
import { mountMailPages } from './mail/dev-pages.ts';
import { consumeMailRequests } from './mail/mail-requests.ts';
import { countMails, mailLane } from './mail/mail-work.ts';
import { createMailing } from './mail/mailing.ts';
import { createObjectStore, isFileStore } from './object-store/connect.ts';
import { mountFileServer } from './object-store/file-server.ts';
import type { ObjectStore } from './object-store/object-store.ts';
import { countJobs, longestWait } from './queue/job-list.ts';
import { workRequested } from './queue/jobs.ts';
import { createWorker } from './queue/worker.ts';
import { callers, createHandlers } from './rpc.ts';
import { putCounted } from './storage.ts';
import { createSweeper } from './sweeper.ts';
import { consumeMoves } from './table-places.ts';

const directory = join(import.meta.dirname, '../prisma/migrations');

/** Brings the database up to date; safe when several instances do it at once. */
export async function migrateJobs(config: JobsConfig): Promise<void> {
  const logger = createLogger('jobs', config.common.logLevel);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory, logger });
}

/** `overrides.store` replaces the object store in tests. */
export async function createJobs(
  config: JobsConfig,
  overrides: Overrides & { store?: ObjectStore } = {},
): Promise<Service<Context>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { logger, health, metrics, bus, verifyContext } = runtime;
  const { host, httpPort, publicUrl } = config.common;
  const { databaseUrl, objectStoreUrl, signingKey, smtpUrl } = config.secrets;
  const pool = createPool({ url: databaseUrl, name: 'almanac-jobs', max: 20, logger });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  const store =
    overrides.store ?? createObjectStore({ url: objectStoreUrl, publicUrl, ...(signingKey ? { signingKey } : {}) });
  const identity = runtime.rpcClient('identity', config.neighbours.identity);
  const metadata = runtime.rpcClient('metadata', config.neighbours.metadata);
  const data = runtime.rpcClient('data', config.neighbours.data);
  const mailing = smtpUrl === undefined ? undefined : createMailing({ ...config.mail, smtpUrl, publicUrl });
  const context: Context = {
    logger,
    prisma,
    pool,
    store,
    rights: createRightsCache(identity.client, { isReceivingEvents: () => bus.isReady() }),
    identity: identity.client,
    metadata: metadata.client,
    data: data.client,
    work: config.work,
    ...(mailing ? { mailing } : {}),
  };
  // Not the object store: without it, jobs wait, and everything else can still be asked.
  health.addReadinessCheck('database', () => pgSql(pool)('select 1'));

  const workers = [
    createWorker(context, {
      name: 'files',
      concurrency: config.work.concurrency,
      spare: Math.ceil(config.work.concurrency / 2),
      concurrencyPerAccount: config.work.concurrencyPerAccount,
      longestPauseMs: 60_000,
      handlers: { import_table: importTableHandler(context), export: exportHandler(context) },
    }),
    ...(mailing ? [createWorker(context, mailLane(context, mailing))] : []),
  ];
  const relay = createOutboxRelay({ pool, bus, logger });
  watchPools(metrics, { jobs: pool });
  watchOutbox(metrics, [relay]);
  metrics.gauge('almanac_jobs_queued', 'Jobs that wait for an instance.', () => countJobs(pool, 'queued'));
  metrics.gauge('almanac_jobs_running', 'Jobs that an instance has taken.', () => countJobs(pool, 'running'));
  metrics.gauge('almanac_jobs_failed', 'Jobs that were given up.', () => countJobs(pool, 'failed'));
  metrics.gauge('almanac_jobs_longest_wait_seconds', 'Since when the oldest job could have been begun.', () =>
    longestWait(pool),
  );
  metrics.gauge('almanac_mails_queued', 'Mails that wait to be sent.', () => countMails(context, 'queued'));
  metrics.gauge('almanac_mails_failed', 'Mails that were given up in the last 90 days.', () =>
    countMails(context, 'failed'),
  );
  const rpc = createRpcServer({
    service: 'jobs',
    host,
    port: config.rpcPort,
    handlers: createHandlers(context, bus),
    callers,
    verifyContext,
    tls: runtime.rpcTls,
    logger,
    metrics,
  });
  const http = createHttpServer({
    service: 'jobs',
    host,
    port: httpPort,
    logger,
    health,
    metrics,
    verifyContext,
    tls: runtime.httpTls,
    routes: routes(context),
    onRefused: (call, act) => announceAct(pgSql(pool), 'jobs', call, act),
    mount: (app) => {
      if (isFileStore(store))
        mountFileServer(app, store, {
          requireUpload: (key) => requireOpenUpload(context, key),
          put: (key, source, options) => putCounted(context, accountOf(key), key, source, options),
        });
      if (mailing?.folder) mountMailPages(app, { folder: mailing.folder, publicUrl });
    },
  });

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrate({ databaseUrl, directory, logger }) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => (pool.ended ? undefined : pool.end())) },
    { name: 'object store', start: () => startStore(runtime, store), stop: () => store.stop() },
    { name: 'neighbours', stop: () => [identity, metadata, data].forEach((each) => void each.close()) },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'consumers', start: () => consume(runtime, context, workers) },
    { name: 'relay', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'mail', start: async () => warnWithoutMail(runtime, smtpUrl), stop: () => mailing?.transport.stop() },
    {
      name: 'workers',
      start: async () => workers.forEach((worker) => void worker.start()),
      stop: () => Promise.all(workers.map((worker) => worker.stop())),
    },
    createSweeper(context),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}

// A store that is away when we start comes back while we run; jobs wait for it.
async function startStore({ logger }: ServiceRuntime, store: ObjectStore): Promise<void> {
  await store.start().catch((error: unknown) => logger.warn({ err: error }, 'the object store is not available yet'));
}

function warnWithoutMail({ logger }: ServiceRuntime, smtpUrl: string | undefined): void {
  if (smtpUrl === undefined)
    logger.warn('JOBS_SMTP_URL is not set: invitations and all other mails wait until it is (docs/how-to/mail.md)');
}

async function consume({ bus }: ServiceRuntime, ctx: Context, workers: { look(): void }[]): Promise<void> {
  await bus.consume('jobs.work', { [workRequested]: z.object({}) }, () =>
    workers.forEach((worker) => void worker.look()),
  );
  await consumeClones(ctx, bus);
  await consumeMoves(ctx, bus);
  await consumeMailRequests(ctx, bus);
  await invalidateOnEvents(bus, ctx.rights);
}
