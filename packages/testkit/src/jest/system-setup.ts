// Before the first test of the whole system: starts one here on free ports, unless ALMANAC_BASE_URL names one that runs. With
// ALMANAC_TEST_CLUSTERS=2 the rows of new accounts are on a second PostgreSQL.
import { type Cluster, startPostgres } from '../postgres/postgres.ts';
import { beginRun } from '../secrets/test-run.ts';
import { secondClusterName } from '../system/stored-state.ts';
import { startSystem, systemHomeName } from '../system/system.ts';

/** Where the teardown finds what the setup started; both run in the same process. */
export const holder = globalThis as { almanacTestSystem?: { stop(): Promise<unknown> }; almanacTestCluster?: Cluster };

export default async function setup(): Promise<void> {
  beginRun();
  if (process.env.ALMANAC_BASE_URL) return;
  const env = process.env.ALMANAC_TEST_CLUSTERS === '2' ? await secondCluster() : {};
  const system = await startSystem({ onRealServers: true, env });
  holder.almanacTestSystem = system;
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
}

async function secondCluster(): Promise<Record<string, string>> {
  holder.almanacTestCluster = await startPostgres();
  process.env[secondClusterName] = holder.almanacTestCluster.url;
  return { DATA_DATABASE_URLS: `north=${holder.almanacTestCluster.url}`, DATA_NEW_ACCOUNTS_ON: 'north' };
}
