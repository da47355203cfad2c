// Constructs the parts of data, and orders their start and stop.
import { join } from 'node:path';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { migrate } from '@almanac/service-kit/postgres/migrate';
import type { Service } from '@almanac/service-kit/process/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/process/service-metrics';
import { createLifecycle, createServiceRuntime, type Overrides } from '@almanac/service-kit/process/service-runtime';
import { createRightsCache, invalidateOnEvents } from '@almanac/service-kit/rights/rights-cache';
import { type Cluster, createCluster } from './cluster.ts';
import { Clusters } from './clusters/clusters.ts';
import { createDataErasure } from './clusters/erase-account.ts';
import type { DataConfig } from './config.ts';
import type { DataContext } from './context.ts';
import { createDataHttp } from './http.ts';
import { createDataRpc } from './rpc.ts';

const migrations = join(import.meta.dirname, '../prisma/migrations');

/** Brings the databases up to date. */
export async function migrateData(config: DataConfig): Promise<void> {
  const logger = createLogger('data', config.common.logLevel);
  for (const { url } of config.secrets.databaseUrls) await migrate({ databaseUrl: url, directory: migrations, logger });
}

/**
 * Builds the service, with the context of the home cluster; nothing connects or listens until
 * `start`.
 */
export async function createData(config: DataConfig, overrides: Overrides = {}): Promise<Service<DataContext>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { bus } = runtime;
  const identity = runtime.rpcClient('identity', config.identityRpc);
  const rights = createRightsCache(identity.client, { isReceivingEvents: () => bus.isReady() });
  const clusters = new Clusters(
    config.secrets.databaseUrls.map(({ name, url }) => createCluster({ name, url, config, runtime, rights })),
    config.newAccountsOn,
  );
  watchPools(runtime.metrics, Object.fromEntries(clusters.all.flatMap(poolsOf)));
  watchOutbox(
    runtime.metrics,
    clusters.all.map(({ relay }) => relay),
  );
  const pageCaches = () => clusters.all.map(({ context }) => context.pages.cache);
  runtime.metrics.gauge('almanac_data_page_cache_bytes', 'The bytes of the cached pages.', () =>
    sum(pageCaches().map(({ size }) => size)),
  );
  runtime.metrics.gauge('almanac_data_page_cache_hits', 'Pages answered from the cache since the start.', () =>
    sum(pageCaches().map(({ hits }) => hits)),
  );
  const rpc = createDataRpc(clusters, runtime, config.rpcPort);
  const http = createDataHttp(clusters, runtime);
  // While another cluster is down, its accounts get 503 and the others are served.
  runtime.health.addReadinessCheck('database', () => clusters.home.check());

  const everyCluster = (work: (cluster: Cluster) => Promise<void>) => async () => {
    await Promise.all(clusters.all.map(work));
  };

  const lifecycle = createLifecycle(runtime, [
    { name: 'migrations', start: () => migrateData(config) },
    { name: 'databases', stop: everyCluster((cluster) => cluster.close()) },
    { name: 'identity', stop: () => identity.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'rights', start: () => invalidateOnEvents(bus, rights) },
    {
      name: 'clusters',
      start: everyCluster((cluster) => cluster.start()),
      stop: everyCluster((cluster) => cluster.stop()),
    },
    createDataErasure(clusters, bus, runtime.logger),
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context: clusters.home.context, ...lifecycle };
}

const poolsOf = ({ name, context }: Cluster) =>
  Object.entries(context.pools).map(([pool, connections]) => [`${name} ${pool}`, connections] as const);

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
