// The whole system as it is deployed: the seven images that deploy/images.sh builds, confined,
// beside PostgreSQL (two of them), RabbitMQ and an S3 in containers. Its folder is like that of an
// embedded system, so that the same tests reach its processes and databases.
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Home, makeHome, readHome, writeJson } from '@almanac/embedded/home';
import { findFreePorts } from '@almanac/embedded/ports';
import { databases, superuserPassword } from '@almanac/embedded/postgres';
import { readOrMakeSecrets } from '@almanac/embedded/secrets';
import { type ServiceName, serviceEnvironment, serviceNames } from '@almanac/embedded/services';
import { assignPorts, describe, freePortCount } from '@almanac/embedded/supervisor';
import { clusterUrlName } from '@almanac/testkit/postgres/postgres';
import { keepLogs, runWatcher } from '@almanac/testkit/secrets/test-run';
import { secondClusterName } from '@almanac/testkit/system/stored-state';
import { systemHomeName } from '@almanac/testkit/system/system';
import type { StartedTestContainer } from 'testcontainers';
import { Container, containerName, removeContainers } from './container.ts';
import { follow } from './running.ts';
import { startObjectStore, startPostgres, startRabbitmq } from './servers.ts';

const prefix = process.env.ALMANAC_IMAGES ?? 'almanac/';
const user = 10_001; // of the images
const stopWithinMs = 60_000;

export type ImageSystem = {
  /** What tests need in their environment to find it and its servers. */
  env: Record<string, string>;
  /** Stops and removes everything, and keeps the logs for the end of the run. */
  stop(): Promise<void>;
};

/** Starts all of it, and waits until everything is ready. */
export async function startImages(): Promise<ImageSystem> {
  const home = givenHome();
  const secrets = readOrMakeSecrets(home, [...databases, superuserPassword]);
  const passwords = secrets.database_passwords;
  const servers: StartedTestContainer[] = [];
  const services: Partial<Record<ServiceName, StartedTestContainer>> = {};
  let unfollow: (() => Promise<void>) | undefined;
  const started = async <S extends { container: StartedTestContainer }>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    servers.push(server.container);
    return server;
  };
  const stop = async () => {
    const { gateway, ...others } = services;
    // Services settle calls with each other as they stop, so the servers stop last; those keep
    // nothing.
    for (const [group, timeout] of [
      [gateway ? [gateway] : [], stopWithinMs],
      [Object.values(others), stopWithinMs],
      [servers, 0],
    ] as const)
      await Promise.all(group.map((container) => container.stop({ timeout, remove: false })));
    await unfollow?.();
    keepLogs(home.folder, '');
    await removeContainers();
    rmSync(home.folder, { recursive: true, force: true });
  };
  try {
    const [near, north, rabbitmq, objects] = await Promise.all([
      started(startPostgres(passwords)),
      started(startPostgres(passwords)),
      started(startRabbitmq()),
      started(startObjectStore()),
    ]);
    for (const { url } of [rabbitmq, objects])
      runWatcher.secret({ kind: 'a password of a server', value: new URL(url).password });
    const [gateway, ...free] = (await findFreePorts(1 + freePortCount)) as [number, ...number[]];
    const ports = assignPorts(gateway, free);
    const baseUrl = `http://127.0.0.1:${gateway}`;
    const env = {
      ALMANAC_LOG_LEVEL: 'trace',
      ALMANAC_BUS_URL: rabbitmq.url,
      JOBS_OBJECT_STORE_URL: objects.url,
      DATA_DATABASE_URLS: `north=${north.ownUrl('data')}`,
      DATA_NEW_ACCOUNTS_ON: 'north',
    };
    const given = { home, secrets, ports, env, publicUrl: baseUrl, databaseUrl: near.ownUrl };
    await Promise.all(
      serviceNames.map(async (name) => {
        services[name] = await startService(name, serviceEnvironment(name, given), home);
      }),
    );
    const watched = [
      { name: 'postgres', container: near.container, isReady: near.accepts },
      ...serviceNames.map((name) => ({
        name,
        container: services[name] as StartedTestContainer,
        isReady: () => isReady(`http://127.0.0.1:${ports.http[name]}/readyz`),
      })),
    ];
    unfollow = await follow(home, watched, (running) =>
      writeJson(
        home.runtime,
        describe(
          baseUrl,
          ports,
          near.port,
          running.map((process) => ({ ...process, serverPid: undefined })),
        ),
      ),
    );
    return {
      env: {
        ALMANAC_BASE_URL: baseUrl,
        [systemHomeName]: home.folder,
        [secondClusterName]: north.url('almanac_data'),
        [clusterUrlName]: near.url('postgres'),
        ALMANAC_TEST_AMQP_URL: rabbitmq.url,
        ALMANAC_TEST_S3_URL: objects.url,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A folder that outlives the containers: mails. */
function givenHome(): Home {
  const home = readHome({ ALMANAC_HOME: mkdtempSync(join(tmpdir(), 'almanac-images-')) });
  makeHome(home);
  mkdirSync(home.mail);
  chownSync(home.mail, user, user);
  return home;
}

function startService(
  name: ServiceName,
  environment: Record<string, string | undefined>,
  home: Home,
): Promise<StartedTestContainer> {
  const { NODE_COMPILE_CACHE: _, ...env } = environment; // a folder of the embedded system
  const kept = { jobs: [home.mail] } as Partial<Record<ServiceName, string[]>>;
  return new Container(`${prefix}${name}`)
    .confined()
    .withName(containerName(home.folder, name))
    .withEnvironment(env as Record<string, string>)
    .withBindMounts((kept[name] ?? []).map((folder) => ({ source: folder, target: folder })))
    .start();
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
