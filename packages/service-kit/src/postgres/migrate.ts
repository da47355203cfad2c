// Applies the migrations of a service's database. Any number of instances may start at once: one
// migrates, the others wait and then find nothing to do. `_prisma_migrations` has the form of the
// Prisma command line, so either can continue where the other stopped.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { hasSqlState, isMissingTable } from './errors.ts';

type MigrateOptions = {
  databaseUrl: string;
  /** The folder that holds `<timestamp>_<name>/migration.sql`. */
  directory: string;
  logger: Logger;
  /**
   * The time to wait for a database that doesn't answer, and for another instance that migrates.
   */
  waitSeconds?: number;
};

/**
 * Applies the migrations that the database hasn't seen, each in one transaction, and returns their
 * names. A migration that fails is rolled back, stops the start with the reason, and is tried again
 * at the next start. With nothing to apply it makes one query and takes no lock.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { databaseUrl, directory, logger, waitSeconds = 120 } = options;
  const deadline = Date.now() + waitSeconds * 1000;
  const client = await connect(databaseUrl, deadline, logger);
  try {
    const migrations = readMigrations(directory);
    if (migrations.length === 0) throw new Error(`${directory} holds no migrations.`);
    const applied = await findApplied(client);
    if (migrations.every(({ name }) => applied?.has(name))) return []; // the everyday start
    await lock(client, deadline, logger);
    const names = await applyPending(client, migrations, logger);
    if (names.length > 0) logger.info({ migrations: names }, 'database migrated');
    return names;
  } finally {
    await client.end(); // also gives the lock back
  }
}

type Migration = { name: string; sql: string };

/** The migrations of a folder (`<timestamp>_<name>/migration.sql`), in the order of their names. */
export function readMigrations(directory: string): Migration[] {
  const names = existsSync(directory) ? readdirSync(directory).toSorted() : [];
  return names
    .map((name) => ({ name, file: join(directory, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, sql: readFileSync(file, 'utf8') }));
}

// Retried: a server that starts, a name that isn't known yet, a database that isn't created yet.
const transientCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT', // a socket of the file system
]);

async function connect(databaseUrl: string, deadline: number, logger: Logger): Promise<pg.Client> {
  const { host, pathname } = new URL(databaseUrl);
  const database = `${host}${pathname}`;
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'almanac-migrate',
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => {}); // a loss fails the statement that is running
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (Date.now() >= deadline || !isTransient(error)) {
        throw new Error(`The database ${database} can't be used: ${messageOf(error)}`, { cause: error });
      }
      if (attempt === 1) logger.info({ database, reason: messageOf(error) }, 'waiting for the database');
      await sleep(Math.min(100 * 2 ** attempt, 2_000));
    }
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isTransient);
  const { code, message } = error as { code?: string; message?: string };
  if (hasSqlState(error, 'cannot_connect_now', 'too_many_connections', 'invalid_catalog_name')) return true;
  return code ? transientCodes.has(code) : /timeout|terminated unexpectedly/i.test(message ?? '');
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

// Polls for the lock: a session that waits for one would block `create index concurrently`. The
// second lock is that of the Prisma command line.
async function lock(client: pg.Client, deadline: number, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query(
      `select case when pg_try_advisory_lock(hashtext('almanac'), hashtext('migrate'))
         then pg_try_advisory_lock(72707369) else false end as locked`,
    );
    if (rows[0].locked) return;
    if (Date.now() >= deadline) throw new Error('Another instance has been migrating this database for too long.');
    if (attempt === 1) logger.info('waiting for another instance that migrates the database');
    await sleep(100);
  }
}

async function applyPending(client: pg.Client, migrations: Migration[], logger: Logger): Promise<string[]> {
  // A migration that waits for a table blocks its later users; it fails and runs again.
  await client.query("set lock_timeout = '10s'");
  const applied = (await findApplied(client)) ?? (await createTable(client));
  const pending = migrations.filter(({ name }) => !applied.has(name));
  for (const name of await rollBackUnfinished(client, pending))
    logger.warn({ migration: name }, 'a migration was interrupted and rolled back; trying it again');
  for (const migration of pending) await apply(client, migration);
  return pending.map(({ name }) => name);
}

/** Names of the migrations that are applied; undefined when the database has no table of them. */
async function findApplied(client: pg.Client): Promise<Set<string> | undefined> {
  try {
    const { rows } = await client.query(
      `select migration_name from _prisma_migrations
       where finished_at is not null and rolled_back_at is null`,
    );
    return new Set(rows.map(({ migration_name }) => migration_name));
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    throw error;
  }
}

// As Prisma creates it. A database with other tables is likely another program's, named by mistake.
async function createTable(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query('select from pg_tables where schemaname = current_schema() limit 1');
  if (rows.length > 0) throw new Error('The database is not empty, and none of its tables is _prisma_migrations.');
  await client.query(`create table _prisma_migrations (
    id varchar(36) primary key not null,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`);
  return new Set();
}

// Rows of a killed process, and failures that Prisma recorded: Prisma refuses to go on from these.
async function rollBackUnfinished(client: pg.Client, pending: Migration[]): Promise<string[]> {
  const { rows } = await client.query(
    `update _prisma_migrations set rolled_back_at = now()
     where finished_at is null and rolled_back_at is null and migration_name = any($1) returning migration_name`,
    [pending.map(({ name }) => name)],
  );
  return rows.map(({ migration_name }) => migration_name);
}

async function apply(client: pg.Client, { name, sql }: Migration): Promise<void> {
  const id = randomUUID();
  const checksum = createHash('sha256').update(sql).digest('hex');
  const row = 'insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)';
  const finish = `update _prisma_migrations
    set finished_at = clock_timestamp(), applied_steps_count = 1 where id = '${id}'`;
  await client.query(row, [id, checksum, name]);
  try {
    // PostgreSQL runs a text of several statements as one transaction. `concurrently` is refused in
    // one, so such a migration is sent alone.
    if (/\bconcurrently\b/i.test(sql)) {
      await client.query(sql);
      await client.query(finish);
    } else await client.query(`${sql}\n;${finish}`);
  } catch (error) {
    const reason = messageOf(error);
    const failure = 'update _prisma_migrations set logs = $2, rolled_back_at = now() where id = $1';
    // Without a connection the row stays unfinished, as that of a killed process does.
    await client.query(failure, [id, reason]).catch(() => {});
    throw new Error(`Migration ${name} failed and was rolled back: ${reason}`, { cause: error });
  }
}
