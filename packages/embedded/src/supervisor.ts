// Brings the embedded system up and down: PostgreSQL first, the six services beside each other, the gateway's readiness last;
// down in the opposite order, within 15 seconds. In between every process that ends is started again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child.ts';
import { type Home, lockHome, makeHome, type Runtime, root, writeJson } from './home.ts';
import { findFreePorts, requireFreePort } from './ports.ts';
import { createPostgres, databases, superuserPassword } from './postgres.ts';
import { waitUntil } from './processes.ts';
import type { Screen } from './screen.ts';
import { readOrMakeSecrets, type Secrets } from './secrets.ts';
import { type Ports, serviceEnvironment, serviceNames } from './services.ts';

export type System = {
  baseUrl: string;
  secrets: Secrets;
  isNew: boolean;
  /** Stops everything; safe to call at any time and twice. */
  stop(): Promise<void>;
};

type Options = { home: Home; env: NodeJS.ProcessEnv; screen: Screen };

/** Starts the system and waits until the gateway is ready for calls. `onStop` hands out the way to stop before there is anything. */
export async function startSystem(options: Options, onStop: (stop: () => Promise<void>) => void): Promise<System> {
  const { home, env, screen } = options;
  const host = env.GATEWAY_HOST || '127.0.0.1';
  const wanted = readPort(env.PORT);
  makeHome(home);
  const unlock = lockHome(home);
  const children: Child[] = [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll(home, children, unlock);
    return stopped;
  };
  onStop(stop);
  const requireGoingOn = () => {
    if (stopped) throw new StoppedError();
  };
  try {
    if (wanted !== 0) await requireFreePort(wanted, host);
    const secrets = readOrMakeSecrets(home, [...databases, superuserPassword]);
    const [free, postgresPort, ...rest] = (await findFreePorts(2 + 5 * 2 + 1)) as [number, number, ...number[]];
    const ports = assignPorts(wanted || free, rest);
    const baseUrl = env.ALMANAC_PUBLIC_URL?.replace(/\/+$/, '') || `http://127.0.0.1:${ports.http.gateway}`;
    const tellRuntime = () => {
      if (!stopped) writeJson(home.runtime, describe(baseUrl, ports, postgresPort, children));
    };
    const common = { onProblem: screen.problem, onChange: tellRuntime };

    const postgres = createPostgres({ ...common, home, port: postgresPort, passwords: secrets.database_passwords });
    const quietAboutPostgres = screen.waiting(() => 'PostgreSQL');
    const { isNew } = await postgres.start((child) => children.push(child)).finally(quietAboutPostgres);
    requireGoingOn();
    screen.step(isNew ? 'PostgreSQL (made its data folder)' : 'PostgreSQL');

    const given = { home, secrets, ports, env, publicUrl: baseUrl, databaseUrl: postgres.url };
    const services = serviceNames.map(
      (name) =>
        new Child({
          ...common,
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
      await Promise.all(services.map((child) => child.start(120_000)));
      requireGoingOn();
      const local = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${ports.http.gateway}`;
      const isReady = async () => stopped !== undefined || (await answersOk(`${local}/readyz`));
      if (!(await waitUntil(isReady, 60_000, 50)))
        throw new Error(`The gateway is up but not ready: ${await textOf(`${local}/readyz`)}`);
    } finally {
      quiet();
    }
    requireGoingOn();
    screen.step(`services ${services.map((child) => child.name).join(', ')}`);
    tellRuntime();
    return { baseUrl, secrets, isNew, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Thrown out of `startSystem` when it was asked to stop meanwhile. */
export class StoppedError extends Error {}

// The gateway first, so that nothing new comes in; then those it calls; the database when nobody needs it any more.
async function stopAll(home: Home, children: Child[], unlock: () => void): Promise<void> {
  const named = (test: (name: string) => boolean) => children.filter((child) => test(child.name));
  await Promise.all(named((name) => name === 'gateway').map((child) => child.stop(3_000)));
  await Promise.all(named((name) => name !== 'gateway' && name !== 'postgres').map((child) => child.stop(5_000)));
  await Promise.all(named((name) => name === 'postgres').map((child) => child.stop(4_000)));
  rmSync(home.runtime, { force: true });
  unlock();
}

function readPort(text: string | undefined): number {
  const port = Number(text || 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT should be a port number from 0 (any free one) to 65535, not "${text}".`);
  return port;
}

/** Ports of the services, the gateway's own first; of the others there have to be eleven. */
export function assignPorts(gateway: number, free: number[]): Ports {
  const behind = serviceNames.filter((name) => name !== 'gateway');
  return {
    http: Object.fromEntries([
      ['gateway', gateway],
      ...behind.map((name, place) => [name, free[2 * place] as number]),
    ]) as Ports['http'],
    metrics: free.at(-1) as number,
    rpc: Object.fromEntries(behind.map((name, place) => [name, free[2 * place + 1] as number])) as Ports['rpc'],
  };
}

type Running = Pick<Child, 'name' | 'pid' | 'serverPid' | 'ready'>;

/** What is told of a system that runs. */
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
