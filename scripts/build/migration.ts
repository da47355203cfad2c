// Writes the next migration of a service: the difference between its migrations and its Prisma
// schema.
//   npm run migration -- SERVICE NAME   writes the next migration of SERVICE
//   npm run migration -- --check        fails when migrations of a service don't make its schema
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { startPostgres } from '@almanac/testkit/postgres/postgres';
import { migrationList, noFilters, withEngine } from './migration/engine.ts';

const root = resolve(import.meta.dirname, '../..');
const lockFile = '# Read by the Prisma command line.\nprovider = "postgresql"\n';
const nothing = '-- This is an empty migration.';

const [service = '', name = ''] = process.argv.slice(2);
if (service === '--check') await check();
else if (/^[a-z]+$/.test(service) && /^[a-z0-9_]+$/.test(name)) await write();
else fail('Usage: npm run migration -- SERVICE NAME   (both in lower case, words of NAME joined by _), or --check');

async function write(): Promise<void> {
  const directory = migrationsOf(service);
  if (!existsSync(join(root, 'services', service))) return fail(`There is no service ${service}.`);
  mkdirSync(directory, { recursive: true });
  const [sql = ''] = await withCluster((url) => Promise.all([diff(service, url)]));
  if (sql.startsWith(nothing) && existsSync(schemaOf(service))) {
    console.log(`The migrations of ${service} already make its schema; nothing written.`);
    return;
  }
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = join(directory, `${time}_${name}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'migration.sql'), sql);
  writeFileSync(join(directory, 'migration_lock.toml'), lockFile);
  console.log(`Wrote ${relative(root, folder)}/migration.sql; read it before you commit it.`);
}

async function check(): Promise<void> {
  const services = globSync('services/*/prisma/schema.prisma', { cwd: root }).map(
    (path) => path.split(/[\\/]/)[1] ?? '',
  );
  const differences = await withCluster((url) => Promise.all(services.map((each) => diff(each, url))));
  const behind = services.filter((_, index) => !differences[index]?.startsWith(nothing));
  if (behind.length > 0)
    fail(`The migrations of ${behind.join(', ')} don't make the schema: npm run migration -- SERVICE NAME`);
  else console.log(`The migrations of ${services.toSorted().join(', ')} make their schemas.`);
}

async function diff(service: string, databaseUrl: string): Promise<string> {
  const schema = schemaOf(service);
  if (!existsSync(schema)) return '';
  const migrations = migrationList(migrationsOf(service));
  const files = [{ path: schema, content: readFileSync(schema, 'utf8') }];
  const { stdout } = await withEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: 'migrations', ...migrations },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: noFilters,
    }),
  );
  return stdout ?? '';
}

// The engine replays the migrations in an empty database to learn their schema.
async function withCluster<T>(work: (url: string) => Promise<T>): Promise<T> {
  const cluster = await startPostgres();
  try {
    return await work(cluster.url);
  } finally {
    await cluster.stop();
  }
}

function schemaOf(service: string): string {
  return join(root, 'services', service, 'prisma/schema.prisma');
}

function migrationsOf(service: string): string {
  return join(root, 'services', service, 'prisma/migrations');
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
