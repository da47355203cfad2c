// Starts a system on free ports before its first test, unless ALMANAC_BASE_URL names a running one.
// With ALMANAC_TEST_CLUSTERS=2 the rows of new accounts are in a second PostgreSQL.
import { type Cluster, startPostgres } from '../postgres/postgres.ts';
import { beginRun } from '../secrets/test-run.ts';
import { secondClusterName } from '../system/stored-state.ts';
import { startSystem, systemHomeName } from '../system/system.ts';

/** Holds the system and the cluster for the teardown, which runs in the same process. */
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
