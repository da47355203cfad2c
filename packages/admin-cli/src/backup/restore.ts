// Fills an empty system from a backup: objects first, for without rows nobody sees them; then the databases, jobs' last.
import { join } from 'node:path';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import pg from 'pg';
import { OperatorError } from '../operator.ts';
import { type DumpedDatabase, type Manifest, readManifest } from './manifest.ts';
import { renameEtags, restoreObjects } from './objects.ts';
import type { Database, Places } from './places.ts';
import { restoreDatabase } from './postgres-programs.ts';

/** Restores into databases that hold nothing; a damaged backup or a database in use is refused before anything is changed. */
export async function restore(places: Places, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  requireSameDatabases(places.databases, manifest);
  for (const database of places.databases) await onDatabase(database, (sql) => requireEmpty(sql, database.name));
  await places.store.start();
  try {
    const renamed = await restoreObjects(places.store, folder, manifest.objects.list);
    for (const database of places.databases.toSorted(jobsLast)) {
      const { file } = manifest.databases.find(({ name }) => name === database.name) as DumpedDatabase;
      await restoreDatabase({ url: database.url, programs: places.programs }, join(folder, file));
      await onDatabase(database, async (sql) => {
        if (database.name === 'jobs') await renameEtags(sql, renamed);
        await sql('analyze');
      });
    }
  } finally {
    places.store.stop();
  }
  return manifest;
}

const jobsLast = (a: Database, b: Database) => Number(a.name === 'jobs') - Number(b.name === 'jobs');

function requireSameDatabases(databases: Database[], manifest: Manifest): void {
  const names = (list: { name: string }[]) => list.map(({ name }) => name).toSorted();
  const [here, there] = [names(databases), names(manifest.databases)];
  if (here.join() !== there.join())
    throw new OperatorError(
      `The backup has ${there.join(', ')}, here are ${here.join(', ')}: DATA_DATABASE_URLS should name the same clusters.`,
    );
}

async function onDatabase<T>({ name, url }: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, statement_timeout: 0 });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new OperatorError(`The database of ${name} can't be reached: ${(error as Error).message}`);
  }
  try {
    return await work(pgSql(client));
  } finally {
    await client.end();
  }
}

async function requireEmpty(sql: Sql, name: string): Promise<void> {
  const { rows } = await sql(
    `select count(*)::int as tables from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'`,
  );
  if (rows[0]?.tables > 0)
    throw new OperatorError(
      `The database of ${name} is not empty. Stop the services, drop the database, create it anew, and restore again.`,
    );
}
