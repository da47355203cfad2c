// The system with several instances of each service behind balancers, as a cluster runs it. A test
// replaces instances while the system is in use, by the same code or by that of another release.
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTestKeys } from '../calls/keys.ts';
import { eventually } from '../eventually.ts';
import { findFreePort } from '../network/ports.ts';
import { startPostgres } from '../postgres/postgres.ts';
import { endService, spawnService, untilReady } from '../processes/service-process.ts';
import { type Balancer, type Instance, probe, startBalancer } from './balancer.ts';
import { makeDatabases } from './instances.ts';

export const fleetServices = ['billing', 'identity', 'data', 'metadata', 'jobs', 'gateway'] as const;
export type FleetService = (typeof fleetServices)[number];

export type Fleet = {
  baseUrl: string;
  /** Variables with which builders and operators' commands reach it. */
  env: Record<string, string>;
  /**
   * Ends an instance of a service and starts another one, with the code in the folder `from` or
   * else with this code. Waits until it is ready; answers the exit code of the first.
   */
  replace(service: FleetService, place: number, from?: string): Promise<number | null>;
  stop(): Promise<void>;
};

type Member = Instance & { child?: ChildProcess; stopProbing(): void };

type Options = {
  /** How long an instance serves after it has reported that it is no longer ready. */
  drainSeconds: number;
  /** Number of instances of each service. */
  instances?: number;
  /** The folder with the code of a service; undefined: this code. */
  from?: (service: FleetService) => string;
};

/** Starts the fleet and waits until every instance is ready. */
export async function startFleet({ drainSeconds, instances = 2, from }: Options): Promise<Fleet> {
  const cluster = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'almanac-fleet-'));
  const members = {} as Record<FleetService, Member[]>;
  const balancers: Balancer[] = [];
  const stop = async () => {
    // Gateways first: they have leases to settle.
    for (const name of fleetServices.toReversed())
      await Promise.all(
        (members[name] ?? []).map(async ({ child, stopProbing }) => {
          stopProbing();
          if (child) await endService(child);
        }),
      );
    await Promise.all(balancers.map((balancer) => balancer.stop()));
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const addresses = {} as Record<FleetService, Record<'http' | 'rpc', number>>;
    for (const name of fleetServices) {
      members[name] = await Promise.all(Array.from({ length: instances }, createMember));
      const [http, rpc] = [await startBalancer(members[name], 'http'), await startBalancer(members[name], 'rpc')];
      balancers.push(http, rpc);
      addresses[name] = { http: http.port, rpc: rpc.port };
    }
    const [keys, databaseUrl] = await Promise.all([
      createTestKeys(),
      makeDatabases(cluster.url, [...fleetServices.filter((name) => name !== 'gateway'), 'bus']),
    ]);
    const baseUrl = `http://127.0.0.1:${addresses.gateway.http}`;
    const secret = () => randomBytes(32).toString('base64url');
    const shared = {
      ...keys.env,
      ALMANAC_PUBLIC_URL: baseUrl,
      ALMANAC_BUS_URL: databaseUrl('bus'),
      ALMANAC_LOG_LEVEL: 'error',
      ALMANAC_DRAIN_SECONDS: String(drainSeconds),
      ALMANAC_LOOP_DELAY_MS: '60000',
      NODE_ENV: 'test',
      IDENTITY_PASSWORD_MEMORY_KIB: '8',
      IDENTITY_KEY_ENCRYPTION_KEY: secret(),
      JOBS_OBJECT_STORE_URL: pathToFileURL(join(folder, 'objects')).href,
      JOBS_SMTP_URL: pathToFileURL(join(folder, 'mail')).href,
      JOBS_SIGNING_KEY: secret(),
      JOBS_KEY_ENCRYPTION_KEY: secret(),
      ...Object.fromEntries(
        Object.entries(addresses).flatMap(([name, { http, rpc }]) => [
          [`${name.toUpperCase()}_URL`, `http://127.0.0.1:${http}`],
          [`${name.toUpperCase()}_RPC`, `127.0.0.1:${rpc}`],
        ]),
      ),
    };
    const start = async (name: FleetService, member: Member, code?: string) => {
      const own = name.toUpperCase();
      const places = {
        [`${own}_HTTP_PORT`]: String(member.ports.http),
        ...(name === 'gateway'
          ? {}
          : { [`${own}_RPC_PORT`]: String(member.ports.rpc), [`${own}_DATABASE_URL`]: databaseUrl(name) }),
      };
      member.child = spawnService(name, { ...shared, ...places }, code);
      await untilReady(name, member.child);
      await isReady(name, member, true);
    };
    for (const name of fleetServices) for (const member of members[name]) member.stopProbing = probe(member);
    for (let place = 0; place < instances; place += 1)
      await Promise.all(fleetServices.map((name) => start(name, members[name][place] as Member, from?.(name))));
    return {
      baseUrl,
      env: {
        ALMANAC_BASE_URL: baseUrl,
        ALMANAC_OPERATOR_KEY: JSON.stringify(keys.privateKeys.operator),
        ...Object.fromEntries(
          Object.entries(addresses).map(([name, { rpc }]) => [`${name.toUpperCase()}_RPC`, `127.0.0.1:${rpc}`]),
        ),
      },
      replace: async (name, place, code) => {
        const member = members[name][place] as Member;
        const { child } = member;
        if (!child) throw new Error(`${name} ${place} does not run.`);
        await endService(child);
        await isReady(name, member, false); // the probe may be behind
        await start(name, member, code);
        return child.exitCode;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createMember(): Promise<Member> {
  const [http, rpc] = await Promise.all([findFreePort(), findFreePort()]);
  return { ports: { http, rpc }, isReady: false, stopProbing: () => {} };
}

function isReady(name: FleetService, member: Member, wanted: boolean): Promise<void> {
  return eventually(() => {
    if (member.isReady !== wanted)
      throw new Error(`An instance of ${name} is ${wanted ? 'not ready yet' : 'still ready'}: ${member.lastAnswer}`);
  });
}
