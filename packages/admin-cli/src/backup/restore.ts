// Fills an empty system from a backup: objects first, since they are invisible without rows; then
// the databases, jobs' last.
import { join } from 'node:path';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import { OperatorError } from '../operator.ts';
import { connect, type Database } from './dump/connect.ts';
import { restoreDatabase } from './dump/dump-database.ts';
import { type DumpedDatabase, type Manifest, readManifest } from './manifest.ts';
import { renameEtags, restoreObjects } from './objects.ts';
import type { Places } from './places.ts';

/**
 * Restores into empty databases. Refuses a damaged backup or a database in use before any change;
 * `howToEmpty` says what to do about the latter.
 */
export async function restore(places: Places, folder: string, howToEmpty: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  requireSameDatabases(places.databases, manifest);
  for (const database of places.databases)
    await onDatabase(database, (sql) => requireEmpty(sql, database.name, howToEmpty));
  await places.store.start();
  try {
    const renamed = await restoreObjects(places.store, folder, manifest.objects.list);
    for (const database of places.databases.toSorted(jobsLast)) {
      const { file } = manifest.databases.find(({ name }) => name === database.name) as DumpedDatabase;
      await restoreDatabase(database, join(folder, file));
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

async function onDatabase<T>(database: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await connect(database);
  try {
    return await work(pgSql(client));
  } finally {
    await client.end();
  }
}

async function requireEmpty(sql: Sql, name: string, howToEmpty: string): Promise<void> {
  const { rows } = await sql(
    `select count(*)::int as tables from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'`,
  );
  if (rows[0]?.tables > 0)
    throw new OperatorError(`The database of ${name} is not empty. ${howToEmpty}, and repeat the restore.`);
}
