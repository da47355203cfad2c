// Real PostgreSQL for tests: one cluster for a whole run (jest/global-setup.ts), one database for
// each test file.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCluster, serverCommand } from '@almanac/embedded-postgres/cluster';
import pg from 'pg';
import { eventually } from '../eventually.ts';
import type { Certificate } from '../network/certificate.ts';
import { findFreePort } from '../network/ports.ts';
import { endProcess } from '../processes/end-process.ts';

export const clusterUrlName = 'ALMANAC_TEST_POSTGRES_URL';

export type Cluster = {
  url: string;
  /** Restarts the server: as an administrator does (`fast`), or as after a crash (`immediate`). */
  restart: (how: 'fast' | 'immediate') => Promise<void>;
  /** Restarts the server with this certificate; clients may then use TLS. */
  enableTls: (certificate: Certificate) => Promise<void>;
  stop: () => Promise<void>;
};
export type TestDatabase = { url: string; drop: () => Promise<void> };

// The data doesn't outlive the run, so nothing is flushed to disk.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  timezone: 'UTC',
};

type Options = { parent?: string; more?: Record<string, string> };

const superuser = 'almanac';
const startWithinMs = 120_000;
const objectInUse = '55006';
const isNotInUse = (error: unknown) => (error as { code?: string }).code !== objectInUse;

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/**
 * Starts a PostgreSQL cluster on a free port, in a new folder of `parent`; `stop` ends it and
 * removes the folder. `more` overrides the settings, which don't survive a crash.
 */
export async function startPostgres({ parent = tmpdir(), more = {} }: Options = {}): Promise<Cluster> {
  const folder = join(parent, `almanac-postgres-${process.pid}-${randomBytes(4).toString('hex')}`);
  const port = await findFreePort();
  const url = `postgres://${superuser}:${superuser}@127.0.0.1:${port}/postgres`;
  const lines: string[] = [];
  let server: ChildProcess | undefined;
  let ssl = 'off';
  const endAtExit = () => server?.kill('SIGINT');
  const end = async (how: keyof typeof signals) => {
    if (server) await endProcess(server, signals[how]);
  };
  const start = async () => {
    const { command, args, ...user } = serverCommand(folder, port, { ...settings, ...more, ssl });
    server = spawn(command, args, {
      ...user,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
    });
    server.stderr?.on('data', (chunk: Buffer) => {
      lines.push(String(chunk));
      lines.splice(0, lines.length - 20);
    });
    server.on('error', (error) => lines.push(error.message));
    await untilAccepting(server, url);
  };
  const stop = async () => {
    process.removeListener('exit', endAtExit);
    await end('fast');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await makeCluster({ folder, superuser, password: superuser });
    process.once('exit', endAtExit);
    await start();
  } catch (cause) {
    await stop();
    throw new Error(`PostgreSQL did not start:\n${lines.join('')}`, { cause });
  }
  const restart = async (how: keyof typeof signals) => {
    await end(how);
    await start();
  };
  const enableTls = async ({ cert, key }: Certificate) => {
    const { uid, gid } = statSync(folder);
    for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      chownSync(join(folder, name), uid, gid);
    }
    ssl = 'on';
    await restart('fast');
  };
  return { url, restart, enableTls, stop };
}

async function untilAccepting(server: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + startWithinMs; Date.now() < deadline; ) {
    if (server.exitCode !== null || server.signalCode !== null) break;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error('the server does not accept connections');
}

type DatabaseOptions = { clusterUrl?: string | undefined; template?: string };

/**
 * An empty database, or a copy of a template, in the run's cluster or another one. Call `drop` when
 * the test file is done; it ends open connections.
 */
export async function createTestDatabase(
  name = 'test',
  { clusterUrl = process.env[clusterUrlName], template = 'template0' }: DatabaseOptions = {},
): Promise<TestDatabase> {
  if (!clusterUrl)
    throw new Error(`${clusterUrlName} is not set: run tests with jest, whose global setup starts PostgreSQL.`);
  const database = `${name.replace(/[^a-z0-9_]/gi, '_').toLowerCase()}_${randomBytes(5).toString('hex')}`;
  // PostgreSQL may still count a closed connection to the template.
  await eventually(() => execute(clusterUrl, `create database "${database}" template "${template}"`), {
    isFinal: isNotInUse,
  });
  const url = new URL(clusterUrl);
  url.pathname = `/${database}`;
  // PostgreSQL ends the connections first, which takes a moment on a busy machine.
  const drop = () =>
    eventually(() => execute(clusterUrl, `drop database if exists "${database}" with (force)`), {
      isFinal: isNotInUse,
    });
  return { url: url.href, drop };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
