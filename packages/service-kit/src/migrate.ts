// Brings a service's database to the state its migrations describe. Any number of instances may start at once: one migrates,
// the others wait and then find nothing to do.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { noFilters, readMigrations, withEngine } from './migrate-engine.ts';

type MigrateOptions = {
  databaseUrl: string;
  /** The folder that holds `<timestamp>_<name>/migration.sql`. */
  directory: string;
  logger: Logger;
  /** How long to wait for a database that doesn't answer, and for another instance that migrates. */
  waitSeconds?: number;
};

/**
 * Applies the migrations that the database hasn't seen, each in one transaction, and returns their names. A migration that
 * fails is rolled back, stops the start with the reason, and is tried again at the next start.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { databaseUrl, directory, logger, waitSeconds = 120 } = options;
  const deadline = Date.now() + waitSeconds * 1000;
  const client = await connect(databaseUrl, deadline, logger);
  try {
    await lock(client, deadline, logger);
    const names = await applyMigrations(client, databaseUrl, directory, logger);
    if (names.length > 0) logger.info({ migrations: names }, 'database migrated');
    return names;
  } finally {
    await client.end(); // also gives the lock back
  }
}

// What passes by itself: a server that starts, a name that isn't known yet, a database that is made a moment later.
const passing = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT', // a socket of the file system
  '57P03',
  '53300',
  '3D000',
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
      if (Date.now() >= deadline || !isPassing(error)) {
        throw new Error(`The database ${database} can't be used: ${messageOf(error)}`, { cause: error });
      }
      if (attempt === 1) logger.info({ database, reason: messageOf(error) }, 'waiting for the database');
      await sleep(Math.min(100 * 2 ** attempt, 2_000));
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isPassing);
  const { code, message } = error as { code?: string; message?: string };
  return code ? passing.has(code) : /timeout|terminated unexpectedly/i.test(message ?? '');
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

// Asked for again and again instead of waited for: a session that waits for a lock would hold back `create index concurrently`.
async function lock(client: pg.Client, deadline: number, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query(
      "select pg_try_advisory_lock(hashtext('almanac'), hashtext('migrate')) as locked",
    );
    if (rows[0].locked) return;
    if (Date.now() >= deadline) throw new Error('Another instance has been migrating this database for too long.');
    if (attempt === 1) logger.info('waiting for another instance that migrates the database');
    await sleep(100);
  }
}

async function applyMigrations(
  client: pg.Client,
  databaseUrl: string,
  directory: string,
  logger: Logger,
): Promise<string[]> {
  const migrations = readMigrations(directory);
  if (migrations.migrationDirectories.length === 0) throw new Error(`${directory} holds no migrations.`);
  if (
    await isComplete(
      client,
      migrations.migrationDirectories.map(({ path }) => path),
    )
  )
    return [];
  return withEngine(databaseUrl, migrations, async (engine) => {
    for (const name of await listUnfinished(client)) {
      logger.warn({ migration: name }, 'a migration was interrupted and rolled back; trying it again');
      await engine.markMigrationRolledBack({ migrationName: name });
    }
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: migrations,
        filters: noFilters,
      });
      return appliedMigrationNames;
    } catch (error) {
      const [name = 'unknown'] = await listUnfinished(client);
      throw new Error(`Migration ${name} failed and was rolled back: ${reasonOf(error)}`, { cause: error });
    }
  });
}

// The engine appends where in its own source the failure passed; the reader needs what PostgreSQL said.
function reasonOf(error: unknown): string {
  return (messageOf(error).split(/\n\s+0: /)[0] as string).trim();
}

async function hasMigrationsTable(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query("select to_regclass('_prisma_migrations') is not null as present");
  return rows[0].present;
}

// The everyday start: nothing to apply, so the engine need not be loaded.
async function isComplete(client: pg.Client, names: string[]): Promise<boolean> {
  if (!(await hasMigrationsTable(client))) return false;
  const { rows } = await client.query(
    `select migration_name, bool_or(finished_at is not null and rolled_back_at is null) as done
     from _prisma_migrations group by migration_name`,
  );
  const done = new Map(rows.map((row) => [row.migration_name, row.done]));
  return names.every((name) => done.get(name) === true);
}

async function listUnfinished(client: pg.Client): Promise<string[]> {
  if (!(await hasMigrationsTable(client))) return [];
  const { rows } = await client.query(
    'select migration_name from _prisma_migrations where finished_at is null and rolled_back_at is null',
  );
  return rows.map((row) => row.migration_name);
}
