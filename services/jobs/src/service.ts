// The composition root: constructs and connects everything. Parts start in the order of the list
// and stop in reverse.
import { join } from 'node:path';
import { createOutboxRelay } from '@almanac/service-kit/messaging/outbox';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool, pgSql } from '@almanac/service-kit/postgres/database';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import {
  createLifecycle,
  createServiceRuntime,
  type Overrides,
  type ServiceRuntime,
} from '@almanac/service-kit/process/service-runtime';
import { createRightsCache, invalidateOnEvents } from '@almanac/service-kit/rights/rights-cache';
import { PrismaPg } from '@prisma/adapter-pg';
import { z } from 'zod';
import { consumeClosedAccounts } from './accounts/closed-accounts.ts';
import { createJobsErasure } from './accounts/erase-account.ts';
import type { JobsConfig } from './config.ts';
import type { JobsContext } from './context.ts';
import { createAppends } from './events/appends.ts';
import { consumeEvents } from './events/consume-events.ts';
import { EventStreams } from './events/event-streams.ts';
import { readLogDelay } from './events/read-events.ts';
import { exportHandler } from './exports/export-work.ts';
import { createObjectStore, isFolderStore } from './files/object-store/create-object-store.ts';
import type { ObjectStore } from './files/object-store/object-store.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { createJobsHttp } from './http.ts';
import { consumeClones } from './import-mappings/cloned-definitions.ts';
import { importTableHandler } from './imports/import-work.ts';
import { consumeMailRequests } from './mail/mail-requests.ts';
import { countMails, mailLane } from './mail/mail-work.ts';
import { createMailer } from './mail/mailer.ts';
import { createSweeper } from './maintenance/sweeper.ts';
import { countFailedJobs, countJobs, readLastBackup, readLongestWait } from './operators/job-list.ts';
import { workRequested } from './queue/jobs.ts';
import { createWorker } from './queue/worker.ts';
import { createJobsRpc } from './rpc.ts';
import { consumeMoves } from './table-places.ts';
import { createDispatcher } from './webhooks/deliveries/dispatcher.ts';
import { readOldestWait } from './webhooks/deliveries/take-deliveries.ts';
import { resealSecrets } from './webhooks/secrets/stored-secrets.ts';
import { createWebhookSecrets } from './webhooks/secrets/webhook-secrets.ts';
import { type Resolve, resolveHost } from './webhooks/sending/hosts.ts';

const directory = join(import.meta.dirname, '../prisma/migrations');

/** Brings the schema of the database up to date; instances may do so at the same time. */
export async function migrateJobs(config: JobsConfig): Promise<void> {
  const logger = createLogger('jobs', config.common.logLevel);
  await migrate({ databaseUrl: config.secrets.databaseUrl, directory, logger });
}

/** `store` replaces the object store in tests, `resolve` the addresses of webhooks' hosts. */
export async function createJobs(
  config: JobsConfig,
  overrides: Overrides & { store?: ObjectStore; resolve?: Resolve } = {},
): Promise<Service<JobsContext>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { logger, health, metrics, bus } = runtime;
  const { publicUrl } = config.common;
  const { databaseUrl, objectStoreUrl, signingKey, smtpUrl, keyEncryptionKey, previousKeyEncryptionKey } =
    config.secrets;
  const pool = createPool({ url: databaseUrl, name: 'almanac-jobs', max: 20, logger });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  const store =
    overrides.store ??
    (await createObjectStore({ url: objectStoreUrl, publicUrl, ...(signingKey ? { signingKey } : {}) }));
  const identity = runtime.rpcClient('identity', config.neighbours.identity);
  const metadata = runtime.rpcClient('metadata', config.neighbours.metadata);
  const data = runtime.rpcClient('data', config.neighbours.data);
  const mailer = smtpUrl === undefined ? undefined : createMailer({ ...config.mail, smtpUrl, publicUrl });
  const secrets = createWebhookSecrets(keyEncryptionKey, previousKeyEncryptionKey);
  const reach = { networks: config.webhooks.networks, resolve: overrides.resolve ?? resolveHost };
  const context: JobsContext = {
    logger,
    prisma,
    pool,
    store,
    rights: createRightsCache(identity.client, { isReceivingEvents: () => bus.isReady() }),
    identity: identity.client,
    metadata: metadata.client,
    data: data.client,
    work: config.work,
    ...(mailer ? { mailer } : {}),
    webhooks: { secrets, reach },
  };
  // The object store is no readiness check: without it jobs wait, and the API still answers.
  if (!isFolderStore(store)) runtime.neededServers.add('object_store', () => store.start());
  health.addReadinessCheck('database', () => pgSql(pool)('select 1'));

  const workers = [
    createWorker(context, {
      name: 'files',
      concurrency: config.work.concurrency,
      spare: Math.ceil(config.work.concurrency / 2),
      concurrencyPerAccount: config.work.concurrencyPerAccount,
      maxPauseMs: 60_000,
      handlers: { import_table: importTableHandler(context), export: exportHandler(context) },
    }),
    ...(mailer ? [createWorker(context, mailLane(context, mailer))] : []),
  ];
  const relay = createOutboxRelay({ pool, bus, logger });
  watchPools(metrics, { jobs: pool });
  watchOutbox(metrics, [relay]);
  metrics.gauge('almanac_jobs_queued', 'Jobs that wait for an instance.', () => countJobs(pool, 'queued'));
  metrics.gauge('almanac_jobs_running', 'Jobs that an instance runs.', () => countJobs(pool, 'running'));
  metrics.gauges('almanac_jobs_failed', 'Jobs that failed, by whose fault.', 'cause', () => countFailedJobs(pool));
  metrics.gauge('almanac_jobs_longest_wait_seconds', 'For how many seconds the longest waiting job has been due.', () =>
    readLongestWait(pool),
  );
  metrics.gauge(
    'almanac_last_backup_timestamp_seconds',
    'When the latest backup by the command of operators was taken, in seconds since 1970; 0 without one.',
    () => readLastBackup(pool),
  );
  metrics.gauge('almanac_mails_queued', 'Mails that wait to be sent.', () => countMails(context, 'queued'));
  metrics.gauge('almanac_mails_failed', 'Mails that were given up in the last 90 days.', () =>
    countMails(context, 'failed'),
  );
  const appends = createAppends(pool, logger);
  const dispatcher = createDispatcher(context, { appends, secrets, reach, sendMs: config.webhooks.sendMs });
  metrics.gauges(
    'almanac_webhook_attempts',
    'Messages sent since the start, by what became of them.',
    'result',
    () => dispatcher.results,
  );
  metrics.gauge('almanac_webhook_oldest_seconds', 'For how many seconds the oldest webhook delivery waits.', () =>
    readOldestWait(pool),
  );
  const rpc = createJobsRpc(context, runtime, config.rpcPort);
  const streams = new EventStreams(context, config.eventStreams, appends);
  metrics.gauge(
    'almanac_event_log_delay_seconds',
    'The longest time from an event to its place in the log, of the last five minutes; 0 without one.',
    () => readLogDelay(pool),
  );
  metrics.gauge('almanac_event_streams_open', 'Open streams of events.', () => streams.size);
  const http = createJobsHttp(context, runtime, streams);

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrate({ databaseUrl, directory, logger }) },
    { name: 'database', stop: () => prisma.$disconnect().then(() => (pool.ended ? undefined : pool.end())) },
    { name: 'object store', start: () => startStore(runtime, store), stop: () => store.stop() },
    { name: 'neighbours', stop: () => [identity, metadata, data].forEach((each) => void each.close()) },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'consumers', start: () => startConsumers(runtime, context, workers) },
    { name: 'relay', start: async () => relay.start(), stop: () => relay.stop() },
    { name: 'mail', start: async () => warnWithoutMail(runtime, smtpUrl), stop: () => mailer?.transport.stop() },
    {
      name: 'workers',
      start: async () => workers.forEach((worker) => void worker.start()),
      stop: () => Promise.all(workers.map((worker) => worker.stop())),
    },
    { name: 'webhook secrets', start: async () => previousKeyEncryptionKey && resealSecrets(pool, secrets) },
    appends,
    dispatcher,
    createSweeper(context),
    createJobsErasure(context, bus),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
    { name: 'event streams', start: () => streams.start(), stop: () => streams.stop() },
  ]);
  return { context, ...lifecycle };
}

// An object store that is unavailable at the start may come up later; jobs wait for it.
async function startStore({ logger }: ServiceRuntime, store: ObjectStore): Promise<void> {
  await store.start().catch((error: unknown) => logger.warn({ err: error }, 'the object store is not available yet'));
}

function warnWithoutMail({ logger }: ServiceRuntime, smtpUrl: string | undefined): void {
  if (smtpUrl === undefined)
    logger.warn('JOBS_SMTP_URL is not set: invitations and all other mails wait until it is (docs/how-to/mail.md)');
}

async function startConsumers({ bus }: ServiceRuntime, ctx: JobsContext, workers: { wake(): void }[]): Promise<void> {
  await bus.consume('jobs.work', { [workRequested]: z.object({}) }, () =>
    workers.forEach((worker) => void worker.wake()),
  );
  await consumeClones(ctx, bus);
  await consumeMoves(ctx, bus);
  await consumeMailRequests(ctx, bus);
  await consumeClosedAccounts(ctx, bus);
  await consumeEvents(ctx, bus);
  await invalidateOnEvents(bus, ctx.rights);
}
