// The only place that constructs data's parts, and the order in which they start.
import { join } from 'node:path';
import { createFrame, createLifecycle, type Overrides } from '@almanac/service-kit/frame';
import { createLogger } from '@almanac/service-kit/logger';
import { migrate } from '@almanac/service-kit/migrate';
import { createRights, hearOfRights } from '@almanac/service-kit/remembered-rights';
import type { Service } from '@almanac/service-kit/run';
import { watchOutbox, watchPools } from '@almanac/service-kit/watched-parts';
import { type Cluster, createCluster } from './clusters/cluster.ts';
import { Clusters } from './clusters/clusters.ts';
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

/** Builds the service; nothing connects or listens until `start`. The context is that of the home cluster. */
export async function createData(config: DataConfig, overrides: Overrides = {}): Promise<Service<DataContext>> {
  const frame = await createFrame(config.common, overrides);
  const { bus } = frame;
  const identity = frame.rpcClient('identity', config.identityRpc);
  const rights = createRights(identity.client, { isHearing: () => bus.isReady() });
  const clusters = new Clusters(
    config.secrets.databaseUrls.map(({ name, url }) => createCluster({ name, url, config, frame, rights })),
    config.newAccountsOn,
  );
  watchPools(frame.metrics, Object.fromEntries(clusters.all.flatMap(poolsOf)));
  watchOutbox(
    frame.metrics,
    clusters.all.map(({ relay }) => relay),
  );
  const pageCaches = () => clusters.all.map(({ context }) => context.pageCache);
  frame.metrics.gauge('almanac_data_remembered_bytes', 'Pages kept in memory, in bytes.', () =>
    sum(pageCaches().map(({ size }) => size)),
  );
  frame.metrics.gauge('almanac_data_remembered_answers', 'Pages answered from memory since the start.', () =>
    sum(pageCaches().map(({ hits }) => hits)),
  );
  const rpc = createDataRpc(clusters, frame, config.rpcPort);
  const http = createDataHttp(clusters, frame);
  // Accounts on another cluster that is away get 503; that is no reason to take the rest out of service.
  frame.health.need('database', () => clusters.home.check());

  const everyCluster = (work: (cluster: Cluster) => Promise<void>) => async () => {
    await Promise.all(clusters.all.map(work));
  };

  const lifecycle = createLifecycle(frame, [
    { name: 'migrations', start: () => migrateData(config) },
    { name: 'databases', stop: everyCluster((cluster) => cluster.close()) },
    { name: 'identity', stop: () => identity.close() },
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'rights', start: () => hearOfRights(bus, rights) },
    {
      name: 'clusters',
      start: everyCluster((cluster) => cluster.start()),
      stop: everyCluster((cluster) => cluster.stop()),
    },
    { name: 'rpc', start: () => rpc.start(), stop: () => rpc.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context: clusters.home.context, ...lifecycle };
}

const poolsOf = ({ name, context }: Cluster) =>
  Object.entries(context.pools).map(([pool, connections]) => [`${name} ${pool}`, connections] as const);

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
