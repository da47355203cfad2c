// Several instances of the gateway and of identity with shared databases and one bus, as in a
// cluster: what one of them learns must reach the others. Of the other services only billing runs.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import pg from 'pg';
import { createTestKeys } from '../calls/keys.ts';
import { findFreePort } from '../network/ports.ts';
import { startPostgres } from '../postgres/postgres.ts';
import { endService, spawnService, untilReady } from '../processes/service-process.ts';

export type Instances = {
  /** Base URLs. The gateways use the identities in turn. */
  gateways: string[];
  identities: string[];
  /** A gRPC client of identity, as an operator. */
  operator: RpcClient<'identity'>;
  stop(): Promise<void>;
};

/** Starts them as processes, with a new PostgreSQL. The first gateway is the public address. */
export async function startInstances({ gateways = 2, identities = 2 } = {}): Promise<Instances> {
  const cluster = await startPostgres();
  const children: ChildProcess[] = [];
  const stop = async () => {
    // Gateways first: they have leases to settle.
    for (const child of children.toReversed()) await endService(child);
    await cluster.stop();
  };
  try {
    const [keys, databaseUrl] = await Promise.all([
      createTestKeys(),
      makeDatabases(cluster.url, ['identity', 'billing', 'bus']),
    ]);
    const places = await Promise.all(Array.from({ length: gateways + identities + 1 }, findPlace));
    const billing = places.pop() as Place;
    const [edges, cores] = [places.slice(0, gateways), places.slice(gateways)];
    const shared = {
      ...keys.env,
      ALMANAC_PUBLIC_URL: edges[0]?.url,
      ALMANAC_BUS_URL: databaseUrl('bus'),
      ALMANAC_LOG_LEVEL: 'error',
      BILLING_RPC: billing.rpc,
      ALMANAC_LOOP_DELAY_MS: '60000',
      NODE_ENV: 'test',
      IDENTITY_PASSWORD_MEMORY_KIB: '8',
      IDENTITY_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    };
    const start = (service: string, place: Place, env: Record<string, string | undefined> = {}) => {
      const own = service.toUpperCase();
      const child = spawnService(service, {
        ...shared,
        [`${own}_HTTP_PORT`]: new URL(place.url).port,
        [`${own}_RPC_PORT`]: place.rpc.split(':')[1],
        [`${own}_DATABASE_URL`]: databaseUrl(service),
        ...env,
      });
      children.push(child);
      return untilReady(service, child);
    };
    // Billing warns of every account whose books it hasn't opened yet.
    const quiet = { ALMANAC_LOG_LEVEL: 'silent' };
    await Promise.all([start('billing', billing, quiet), ...cores.map((core) => start('identity', core))]);
    const isServedBy = (i: number) => cores[i % identities] as Place;
    const known = (i: number) => ({ IDENTITY_URL: isServedBy(i).url, IDENTITY_RPC: isServedBy(i).rpc });
    await Promise.all(edges.map((edge, i) => start('gateway', edge, known(i))));
    const sign = await createContextSigner('operator', keys.privateKeys.operator);
    const operator = createRpcClient('identity', isServedBy(0).rpc, sign);
    return {
      gateways: edges.map(({ url }) => url),
      identities: cores.map(({ url }) => url),
      operator: operator.client,
      stop: () => {
        operator.close();
        return stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Place = { url: string; rpc: string };

async function findPlace(): Promise<Place> {
  const [http, rpc] = await Promise.all([findFreePort(), findFreePort()]);
  return { url: `http://127.0.0.1:${http}`, rpc: `127.0.0.1:${rpc}` };
}

/** Creates these databases; the result gives the URL of each by its name. */
export async function makeDatabases(clusterUrl: string, names: readonly string[]): Promise<(name: string) => string> {
  const client = new pg.Client({ connectionString: clusterUrl });
  await client.connect();
  try {
    for (const name of names) await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return (name) => Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).href;
}
