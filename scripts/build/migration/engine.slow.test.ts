// Services and the Prisma command line keep one record of migrations; each reads the other's.
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { migrate, readMigrations } from '@almanac/service-kit/postgres/migrate';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { migrationList, noFilters, withEngine } from './engine.ts';

const logger = createLogger('test', 'silent');
const inSync = { editedMigrationNames: [], failedMigrationNames: [], hasMigrationsTable: true, history: null };
const root = resolve(import.meta.dirname, '../../..');
const folders = globSync('services/*/prisma/migrations', { cwd: root }).toSorted();

let ours: TestDatabase;
let prismas: TestDatabase;

beforeEach(async () => {
  ours = await createTestDatabase('ours');
  prismas = await createTestDatabase('prismas');
});

afterEach(async () => {
  await ours.drop();
  await prismas.drop();
});

describe.each(folders)('the migrations in %s', (folder) => {
  const directory = join(root, folder);
  const names = readMigrations(directory).map(({ name }) => name);

  it('are recorded by the service as Prisma does, so that neither has anything left to do', async () => {
    await expect(start(ours, directory)).resolves.toEqual(names);
    await expect(diagnose(ours, directory)).resolves.toEqual(inSync);
    await expect(deploy(ours, directory)).resolves.toEqual([]);
    await expect(deploy(prismas, directory)).resolves.toEqual(names);
    await expect(start(prismas, directory)).resolves.toEqual([]);
    const rows = `select migration_name, checksum, logs, rolled_back_at, applied_steps_count,
      length(id) as id, finished_at >= started_at as finished from _prisma_migrations order by migration_name`;
    expect(await query(ours, rows)).toEqual(await query(prismas, rows));
    const columns = `select column_name, data_type, character_maximum_length, is_nullable, column_default
      from information_schema.columns where table_name = '_prisma_migrations' order by ordinal_position`;
    expect(await query(ours, columns)).toEqual(await query(prismas, columns));
    const indexes = "select indexname, indexdef from pg_indexes where tablename = '_prisma_migrations'";
    expect(await query(ours, indexes)).toEqual(await query(prismas, indexes));
  });
});

describe('a migration that failed', () => {
  const names = ['20260101000000_first', '20260102000000_second'];
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'almanac-migrations-'));
    await addMigration('20260101000000_first', 'create table thing (id int);');
    await addMigration('20260102000000_second', 'alter table thing add column id int;');
  });

  afterEach(() => rm(directory, { recursive: true }));

  it('in a service is applied by Prisma once it is corrected', async () => {
    await expect(start(ours, directory)).rejects.toThrow('already exists');
    await expect(diagnose(ours, directory)).resolves.toMatchObject({ failedMigrationNames: [] });
    await addMigration('20260102000000_second', 'alter table thing add column more int;');
    await expect(deploy(ours, directory)).resolves.toEqual(names.slice(1));
    await expect(diagnose(ours, directory)).resolves.toEqual(inSync);
    await expect(start(ours, directory)).resolves.toEqual([]);
  });

  it('in Prisma is applied by a service once it is corrected', async () => {
    await expect(deploy(prismas, directory)).rejects.toThrow('already exists');
    await addMigration('20260102000000_second', 'alter table thing add column more int;');
    await expect(start(prismas, directory)).resolves.toEqual(names.slice(1));
    await expect(diagnose(prismas, directory)).resolves.toEqual(inSync);
  });

  async function addMigration(name: string, sql: string): Promise<void> {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  }
});

function start({ url }: TestDatabase, directory: string): Promise<string[]> {
  return migrate({ databaseUrl: url, directory, logger });
}

/** As `prisma migrate deploy` does. */
async function deploy({ url }: TestDatabase, directory: string): Promise<string[]> {
  const wanted = { migrationsList: migrationList(directory), filters: noFilters };
  const { appliedMigrationNames } = await withEngine(url, (engine) => engine.applyMigrations(wanted));
  return appliedMigrationNames;
}

/** As `prisma migrate status` does. */
function diagnose({ url }: TestDatabase, directory: string): Promise<unknown> {
  const wanted = { migrationsList: migrationList(directory), filters: noFilters, optInToShadowDatabase: false };
  return withEngine(url, (engine) => engine.diagnoseMigrationHistory(wanted));
}

async function query({ url }: TestDatabase, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
