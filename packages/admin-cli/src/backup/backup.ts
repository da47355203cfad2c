// Writes a backup: all databases as of one instant, the objects that their rows refer to, and a
// manifest with checksums.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@almanac/embedded/home';
import { pgSql } from '@almanac/service-kit/postgres/database';
import pg from 'pg';
import { OperatorError } from '../operator.ts';
import { dumpDatabase, SchemaChanged } from './dump/dump-database.ts';
import { type HeldDatabase, holdInstant, type Instant } from './instant.ts';
import { type DumpedDatabase, type Manifest, writeManifest } from './manifest.ts';
import { backupObjects } from './objects.ts';
import type { Places } from './places.ts';

const mostInstants = 10;

/** Fills an empty or new folder. A failure leaves it empty. */
export async function backup(places: Places, folder: string): Promise<Manifest> {
  makeEmptyFolder(folder);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await backupOnce(places, folder);
      } catch (error) {
        if (!(error instanceof SchemaChanged)) throw error;
        if (attempt === mostInstants)
          throw new OperatorError(
            `In ${mostInstants} attempts a table of ${error.message} was changed in the very moment: take the backup when less is deployed.`,
          );
        clear(folder);
      }
    }
  } catch (error) {
    clear(folder);
    throw error;
  }
}

async function backupOnce(places: Places, folder: string): Promise<Manifest> {
  const instant = await holdInstant(places.databases);
  try {
    // All in parallel: tables may be changed until the dump of their database has locked them.
    const dumping = instant.databases.map((database) => dump(database, folder));
    const copying = copyObjects(places, instant, folder);
    await Promise.allSettled([...dumping, copying]); // wait for all, so that none writes after another has failed
    const manifest: Manifest = {
      format: 2,
      almanac: readVersion(),
      taken_at: instant.at.toISOString(),
      is_settled: instant.isSettled,
      databases: await Promise.all(dumping),
      objects: await copying,
    };
    writeManifest(folder, manifest);
    return manifest;
  } finally {
    await instant.release();
  }
}

function makeEmptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length > 0) throw new OperatorError(`${folder} is not empty: name a new folder.`);
}

function clear(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}

async function dump(database: HeldDatabase, folder: string): Promise<DumpedDatabase> {
  const { name, serverVersion } = database;
  const file = `${name}.sql.gz`;
  const { leftOut, ...checked } = await dumpDatabase(database, join(folder, file));
  return { name, file, ...checked, server_version: serverVersion, left_out: leftOut };
}

async function copyObjects({ store }: Places, { databases }: Instant, folder: string): Promise<Manifest['objects']> {
  const jobs = databases.find(({ name }) => name === 'jobs') as Instant['databases'][number];
  const present = new pg.Pool({ connectionString: jobs.url, max: 1 });
  present.on('error', () => {});
  try {
    return await backupObjects(store, { sql: jobs.sql, now: pgSql(present) }, folder);
  } finally {
    await present.end();
  }
}

function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
