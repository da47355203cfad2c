// Starts a PostgreSQL cluster before the first test of a run, unless the environment names one.
import { type Cluster, clusterUrlName, startPostgres } from '../postgres/postgres.ts';

/** Holds the cluster for the teardown, which runs in the same process. */
export const holder = globalThis as { almanacTestCluster?: Cluster };

export default async function setup(): Promise<void> {
  if (process.env[clusterUrlName]) return;
  holder.almanacTestCluster = await startPostgres();
  process.env[clusterUrlName] = holder.almanacTestCluster.url;
}
