// Starts and stops the embedded system: PostgreSQL first, then the seven services in parallel, then
// it waits for the gateway's readiness. It stops in the opposite order, within 15 seconds, and
// restarts processes that end in between.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@almanac/service-kit/config/config';
import { Child } from './child.ts';
import { type Home, lockHome, makeHome, type Runtime, root, writeJson } from './home.ts';
import { findNewerState, newerState } from './newer-state.ts';
import { findFreePorts, requireFreePort } from './ports.ts';
import { createPostgres, databases, superuserPassword } from './postgres.ts';
import { checkFreeSpace } from './problems/free-space.ts';
import { watchOutages } from './problems/outages.ts';
import { waitUntil } from './processes.ts';
import type { Screen } from './screen.ts';
import { readOrMakeSecrets, type Secrets } from './secrets.ts';
import { type Ports, serviceEnvironment, serviceNames, storingServices } from './services.ts';

export type System = {
  baseUrl: string;
  secrets: Secrets;
  isNew: boolean;
  /** Stops everything; safe to call at any time, and twice. */
  stop(): Promise<void>;
};

/** How to end the system, from the moment it begins to start. */
export type Ending = Pick<System, 'stop'> & {
  /** Kills every process at once. The next start recovers, as after a power failure. */
  kill(): void;
};

type Options = { home: Home; env: NodeJS.ProcessEnv; screen: Screen };

/**
 * Starts the system and waits until the gateway is ready. `onBegin` gets the way to end it before
 * anything starts. Throws one ConfigError with the sentences of all services.
 */
export async function startSystem(options: Options, onBegin: (ending: Ending) => void): Promise<System> {
  const { home, env, screen } = options;
  const host = env.GATEWAY_HOST || '127.0.0.1';
  const wanted = readPort(env.PORT);
  makeHome(home);
  const unlock = lockHome(home);
  const children: Child[] = [];
  let stopped: Promise<void> | undefined;
  const endChecks = checkFreeSpace(home.folder, screen.problem);
  const stop = () => {
    endChecks();
    stopped ??= stopAll(home, children, unlock);
    return stopped;
  };
  const kill = () => {
    for (const child of children) child.kill();
    cleanUp(home, unlock);
  };
  onBegin({ stop, kill });
  const requireNotStopped = () => {
    if (stopped) throw new StoppedError();
  };
  try {
    if (wanted !== 0) await requireFreePort(wanted, host);
    const secrets = readOrMakeSecrets(home, [...databases, superuserPassword]);
    const [free, postgresPort, ...rest] = (await findFreePorts(2 + freePortCount)) as [number, number, ...number[]];
    const ports = assignPorts(wanted || free, rest);
    const baseUrl = env.ALMANAC_PUBLIC_URL?.replace(/\/+$/, '') || `http://127.0.0.1:${ports.http.gateway}`;
    const writeRuntime = () => {
      if (stopped) return;
      try {
        writeJson(home.runtime, describe(baseUrl, ports, postgresPort, children));
      } catch (error) {
        screen.problem('disk', (error as Error).message); // the system itself runs on
      }
    };
    const common = { onProblem: screen.problem, onChange: writeRuntime };
    const onUnavailable = watchOutages(env, screen.problem);

    const postgres = createPostgres({ ...common, home, port: postgresPort, passwords: secrets.database_passwords });
    const endWaiting = screen.waiting(() => 'PostgreSQL');
    const { isNew } = await postgres.start((child) => children.push(child)).finally(endWaiting);
    requireNotStopped();
    screen.step(isNew ? 'PostgreSQL (made its data folder)' : 'PostgreSQL');
    if (!isNew) for (const service of await findNewerState(postgres.url)) screen.problem(service, newerState);

    const given = { home, secrets, ports, env, publicUrl: baseUrl, databaseUrl: postgres.url };
    const services = serviceNames.map(
      (name) =>
        new Child({
          ...common,
          onUnavailable,
          name,
          file: join(root, 'services', name, 'src/main.ts'),
          cwd: root,
          env: serviceEnvironment(name, given),
          logFile: join(home.logs, `${name}.log`),
        }),
    );
    children.push(...services);
    const notReady = () => services.filter((child) => !child.ready).map((child) => child.name);
    const quiet = screen.waiting(() => notReady().join(', ') || "the gateway's readiness");
    try {
      const started = Promise.all(services.map((child) => child.start(120_000)));
      started.catch(() => {}); // awaited below, after the configurations
      await requireConfigured(services);
      await started;
      requireNotStopped();
      const local = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${ports.http.gateway}`;
      const isReady = async () => stopped !== undefined || (await answersOk(`${local}/readyz`));
      if (!(await waitUntil(isReady, 60_000, 50)))
        throw new Error(`The gateway is up but not ready: ${await textOf(`${local}/readyz`)}`);
    } finally {
      quiet();
    }
    requireNotStopped();
    screen.step(`services ${services.map((child) => child.name).join(', ')}`);
    writeRuntime();
    return { baseUrl, secrets, isNew, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `startSystem` was stopped before it was ready. */
export class StoppedError extends Error {}

// All sentences at once, where the first service that ends would report its own alone. A setting of
// several services is one sentence.
async function requireConfigured(services: readonly Child[]): Promise<void> {
  const problems = await Promise.all(services.map((child) => child.configProblems()));
  const sentences = [...new Set(problems.flat())];
  if (sentences.length > 0) throw new ConfigError(sentences);
}

// The gateway first, so that no new call arrives; then the services it calls; the database last.
async function stopAll(home: Home, children: Child[], unlock: () => void): Promise<void> {
  const named = (test: (name: string) => boolean) => children.filter((child) => test(child.name));
  await Promise.all(named((name) => name === 'gateway').map((child) => child.stop(3_000)));
  await Promise.all(named((name) => name !== 'gateway' && name !== 'postgres').map((child) => child.stop(5_000)));
  await Promise.all(named((name) => name === 'postgres').map((child) => child.stop(4_000)));
  cleanUp(home, unlock);
}

function cleanUp(home: Home, unlock: () => void): void {
  rmSync(home.runtime, { force: true });
  unlock();
}

function readPort(text: string | undefined): number {
  const port = Number(text || 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT should be a port number from 0 (any free one) to 65535, not "${text}".`);
  return port;
}

/** The number of free ports that `assignPorts` takes. */
export const freePortCount = storingServices.length * 2 + 2;

/** The ports of the services: the gateway's own, and free ones. */
export function assignPorts(gateway: number, free: number[]): Ports {
  const [http, rpc] = [free.slice(0, storingServices.length + 1), free.slice(storingServices.length + 1)];
  const named = (names: readonly string[], ports: number[]) =>
    Object.fromEntries(names.map((name, place) => [name, ports[place] as number]));
  return {
    http: { gateway, ...named([...storingServices, 'console'], http) } as Ports['http'],
    metrics: free.at(-1) as number,
    rpc: named(storingServices, rpc) as Ports['rpc'],
  };
}

type Running = Pick<Child, 'name' | 'pid' | 'serverPid' | 'ready'>;

/** The description of the running system. */
export function describe(baseUrl: string, ports: Ports, postgresPort: number, children: readonly Running[]): Runtime {
  const pids = children.flatMap((child) => {
    const pid = child.serverPid ?? child.pid;
    return child.pid !== undefined && pid !== undefined ? [[child.name, pid] as const] : [];
  });
  return {
    pid: process.pid,
    base_url: baseUrl,
    http: addressesOf(ports.http),
    rpc: addressesOf(ports.rpc),
    metrics: addressesOf({ ...ports.http, gateway: ports.metrics }),
    processes: Object.fromEntries(pids),
    ready: children.filter((child) => child.ready).map((child) => child.name),
    postgres_port: postgresPort,
  };
}

const addressesOf = (ports: Record<string, number>) =>
  Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`]));

async function answersOk(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

async function textOf(url: string): Promise<string> {
  try {
    return (await (await fetch(url, { signal: AbortSignal.timeout(2_000) })).text()).slice(0, 500);
  } catch (error) {
    return (error as Error).message;
  }
}
