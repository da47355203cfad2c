// The embedded PostgreSQL: a cluster in the home folder, with a database and an unprivileged role
// for each service and the bus.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError, makeCluster, serverCommand } from '@almanac/embedded-postgres/cluster';
import pg from 'pg';
import { Child } from './child.ts';
import { type Home, root } from './home.ts';
import { readReason } from './problems/log-reason.ts';
import { commandOf, isRunning, signal, waitUntil } from './processes.ts';

const superuser = 'almanac';
export const superuserPassword = 'superuser';
export const databases = ['identity', 'metadata', 'data', 'jobs', 'billing', 'bus'] as const;

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  max_wal_size: '2GB',
  log_line_prefix: '%m [%p] %d ',
  // Callers can cause failing statements, so neither statements nor rows are logged.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

type Options = {
  home: Home;
  port: number;
  passwords: Record<string, string>;
  onProblem(name: string, message: string): void;
  onChange(): void;
};

export type Postgres = {
  /**
   * Starts the server, reports its process at once, and resolves when databases and roles exist.
   */
  start(onChild: (child: Child) => void): Promise<{ isNew: boolean }>;
  url(database: string): string;
};

/** Nothing runs until `start`. */
export function createPostgres(options: Options): Postgres {
  const { home, port, passwords } = options;
  const adminUrl = `postgres://${superuser}:${passwords[superuserPassword]}@127.0.0.1:${port}/postgres`;
  const url = (database: string) =>
    `postgres://almanac_${database}:${passwords[database]}@127.0.0.1:${port}/almanac_${database}`;

  const start = async (onChild: (child: Child) => void) => {
    const isNew = !existsSync(home.postgres);
    if (isNew)
      await makeCluster({ folder: home.postgres, superuser, password: passwords[superuserPassword] as string }).catch(
        (error: Error) => {
          if (!(error instanceof ClusterError)) throw error;
          throw new Error(`PostgreSQL's data folder could not be made: ${readReason(error.message)}`);
        },
      );
    await endLeftOver(home);
    const child = new Child({
      name: 'postgres',
      file: join(root, 'packages/embedded/src/postgres-guard.ts'),
      args: [JSON.stringify(serverCommand(home.postgres, port, settings))],
      cwd: home.folder,
      env: { ...process.env, LC_ALL: 'C' },
      logFile: join(home.logs, 'postgres.log'),
      onProblem: options.onProblem,
      onChange: options.onChange,
      isReady: () => accepts(adminUrl),
      beforeRestart: () => endLeftOver(home),
    });
    onChild(child);
    await child.start(60_000);
    await makeDatabases(adminUrl, passwords);
    return { isNew };
  };
  return { start, url };
}

// A killed supervisor may have left its server running; and a pid file may name an unrelated
// process.
async function endLeftOver(home: Home): Promise<void> {
  const pidFile = join(home.postgres, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!isRunning(pid)) return; // PostgreSQL checks the shared memory of an ended server
  if (!/postgres/.test(commandOf(pid)) || !commandOf(pid).includes(home.postgres)) {
    rmSync(pidFile, { force: true });
    return;
  }
  for (const [name, patienceMs] of [
    ['SIGINT', 8_000],
    ['SIGQUIT', 4_000],
    ['SIGKILL', 2_000],
  ] as const) {
    signal(pid, name);
    if (await waitUntil(() => !isRunning(pid), patienceMs)) return;
  }
  throw new Error(`An older PostgreSQL (process ${pid}) still runs in ${home.postgres} and does not stop.`);
}

/** Whether the server accepts a connection. */
export async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Creates missing databases, each with a role that owns it, and sets the passwords of the roles.
 */
export async function makeDatabases(adminUrl: string, passwords: Record<string, string>): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows: roles } = await client.query<{ name: string }>('select rolname as name from pg_roles');
    const { rows: existing } = await client.query<{ name: string }>('select datname as name from pg_database');
    for (const database of databases) {
      const name = client.escapeIdentifier(`almanac_${database}`);
      const password = client.escapeLiteral(passwords[database] as string);
      const has = (list: { name: string }[]) => list.some((entry) => entry.name === `almanac_${database}`);
      const verb = has(roles) ? 'alter' : 'create';
      await client.query(
        `${verb} role ${name} with login nosuperuser nocreatedb nocreaterole noreplication password ${password}`,
      );
      if (has(existing)) continue;
      await client.query(`create database ${name} owner ${name}`);
      await client.query(`revoke all on database ${name} from public`);
    }
  } finally {
    await client.end();
  }
}
