// Finds out whether a newer release has migrated the databases.

import { join } from 'node:path';
import { readMigrations } from '@almanac/service-kit/postgres/migrate';
import pg from 'pg';
import { root } from './home.ts';
import { storingServices } from './services.ts';

/** What is said of a service whose database a newer release has migrated. */
export const newerState =
  'its database was migrated by a newer release. Going back by one release works; by more, restore a backup (docs/how-to/upgrade.md)';

/** The services whose databases have migrations that this release does not know. */
export async function findNewerState(databaseUrl: (service: string) => string): Promise<string[]> {
  const found = await Promise.all(storingServices.map((name) => hasUnknown(name, databaseUrl(name))));
  return storingServices.filter((_name, place) => found[place]);
}

async function hasUnknown(service: string, url: string): Promise<boolean> {
  const known = readMigrations(join(root, 'services', service, 'prisma/migrations')).map(({ name }) => name);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ migration_name: string }>('select migration_name from _prisma_migrations');
    return rows.some(({ migration_name: name }) => !known.includes(name));
  } catch {
    return false; // a start that ended before its migrations
  } finally {
    await client.end().catch(() => {});
  }
}
