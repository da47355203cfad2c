// Makes a backup: all databases as of one instant, the objects that their rows refer to, and a manifest with checksums.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@almanac/embedded/home';
import { pgSql } from '@almanac/service-kit/postgres/database';
import pg from 'pg';
import { OperatorError } from '../operator.ts';
import { type HeldDatabase, holdInstant, type Instant } from './instant.ts';
import { type DumpedDatabase, type Manifest, writeManifest } from './manifest.ts';
import { backupObjects } from './objects.ts';
import type { Places } from './places.ts';
import { dumpDatabase } from './postgres-programs.ts';

/** Fills an empty or new folder. What fails leaves the folder as it was. */
export async function backup(places: Places, folder: string): Promise<Manifest> {
  makeEmptyFolder(folder);
  let instant: Instant | undefined;
  try {
    instant = await holdInstant(places.databases);
    // All at once, for pg_dump locks a database's tables when it begins, and until then they may be dropped.
    const dumping = instant.databases.map((database) => dump(places, database, folder));
    const copying = copyObjects(places, instant, folder);
    await Promise.allSettled([...dumping, copying]); // none may go on writing when another has failed
    const manifest: Manifest = {
      format: 1,
      almanac: readVersion(),
      taken_at: instant.at.toISOString(),
      is_settled: instant.isSettled,
      databases: await Promise.all(dumping),
      objects: await copying,
    };
    writeManifest(folder, manifest);
    return manifest;
  } catch (error) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    throw error;
  } finally {
    await instant?.release();
  }
}

function makeEmptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length > 0) throw new OperatorError(`${folder} is not empty: name a folder of its own.`);
}

async function dump({ programs }: Places, database: HeldDatabase, folder: string): Promise<DumpedDatabase> {
  const { name, url, snapshot, serverVersion } = database;
  const file = `${name}.dump`;
  const checked = await dumpDatabase({ url, snapshot, programs }, join(folder, file));
  return { name, file, ...checked, server_version: serverVersion };
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
