// The embedded PostgreSQL: a cluster in the home folder, one database and one role (no superuser) for each service and the bus.
import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { Child } from './child.ts';
import type { Home } from './home.ts';
import { root } from './home.ts';
import { type Binaries, commandAs, findBinaries, findServerUser, type ServerUser } from './postgres-binaries.ts';
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
};

type Options = {
  home: Home;
  port: number;
  passwords: Record<string, string>;
  onProblem(name: string, message: string): void;
  onChange(): void;
};

export type Postgres = {
  /** Starts it, handing out its process as soon as there is one, and answers when databases and roles are there. */
  start(onChild: (child: Child) => void): Promise<{ isNew: boolean }>;
  url(database: string): string;
};

/** Describes the server; nothing runs until `start`. */
export function createPostgres(options: Options): Postgres {
  const { home, port, passwords } = options;
  const binaries = findBinaries();
  const user = findServerUser();
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const adminUrl = `postgres://${superuser}:${passwords[superuserPassword]}@127.0.0.1:${port}/postgres`;
  const command = () =>
    commandAs(
      user,
      binaries.postgres,
      ['-D', home.postgres, '-p', String(port), ...flags],
      [binaries.postgres, home.postgres],
    );
  const url = (database: string) =>
    `postgres://almanac_${database}:${passwords[database]}@127.0.0.1:${port}/almanac_${database}`;

  const start = async (onChild: (child: Child) => void) => {
    const isNew = !existsSync(home.postgres);
    if (isNew) await makeCluster(home, binaries, user, passwords[superuserPassword] as string);
    await endLeftOver(home);
    const child = new Child({
      name: 'postgres',
      file: join(root, 'scripts/embedded/postgres-guard.ts'),
      args: [JSON.stringify(command())],
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

// Made beside and moved into place: a start cut off in the middle leaves no half cluster.
async function makeCluster(home: Home, { initdb }: Binaries, user: ServerUser | undefined, password: string) {
  for (const name of readdirSync(home.folder))
    if (name.startsWith('postgres.new')) rmSync(join(home.folder, name), { recursive: true, force: true });
  const fresh = join(home.folder, `postgres.new-${process.pid}`);
  const passwordFile = join(home.folder, `postgres.new-password-${process.pid}`);
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const path of [fresh, passwordFile]) chownSync(path, user.uid, user.gid);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = [`--username=${superuser}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const { command, args, ...as } = commandAs(user, initdb, ['-D', fresh, ...access, ...locale], [initdb, fresh]);
  try {
    await promisify(execFile)(command, args, { ...as, env: { ...process.env, LC_ALL: 'C' } });
    renameSync(fresh, home.postgres);
  } catch (cause) {
    throw new Error(`PostgreSQL's data folder could not be made:\n${(cause as { stderr?: string }).stderr ?? cause}`);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(fresh, { recursive: true, force: true });
  }
}

// A supervisor that was killed may have left its server; and a pid file may name a process that has nothing to do with it.
async function endLeftOver(home: Home): Promise<void> {
  const pidFile = join(home.postgres, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!isRunning(pid)) return; // PostgreSQL itself checks what the dead server may have left in shared memory
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

async function accepts(url: string): Promise<boolean> {
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

async function makeDatabases(adminUrl: string, passwords: Record<string, string>): Promise<void> {
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
