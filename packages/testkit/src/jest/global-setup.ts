// Starts one PostgreSQL cluster before the first test of a run, unless the environment already names one.
import { type Cluster, clusterUrlName, startPostgres } from '../postgres/postgres.ts';

/** Where the teardown finds what the setup started; both run in the same process. */
export const holder = globalThis as { almanacTestCluster?: Cluster };

export default async function setup(): Promise<void> {
  if (process.env[clusterUrlName]) return;
  holder.almanacTestCluster = await startPostgres();
  process.env[clusterUrlName] = holder.almanacTestCluster.url;
}
