// A migrated database of a service, in tens of milliseconds: a copy of a template that the first
// test file of a run makes.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { migrate, readMigrations } from '@almanac/service-kit/postgres/migrate';
import pg from 'pg';
import { clusterUrlName, createTestDatabase, type TestDatabase } from './postgres.ts';

const services = resolve(import.meta.dirname, '../../../../services');

type ServiceName = 'billing' | 'data' | 'identity' | 'jobs' | 'metadata';

const templates = new Map<ServiceName, Promise<string>>();

/**
 * A database of this service in the run's cluster, with all migrations applied. Call `drop` when
 * the test file is done.
 */
export async function createServiceDatabase(service: ServiceName): Promise<TestDatabase> {
  const template = templates.get(service) ?? makeTemplate(service);
  templates.set(service, template);
  return createTestDatabase(service, { template: await template });
}

// The name has a hash of the migrations, so that a cluster that outlives the run has no stale
// template. The advisory lock makes the other worker wait.
async function makeTemplate(service: ServiceName): Promise<string> {
  const directory = resolve(services, service, 'prisma/migrations');
  const hash = createHash('sha256')
    .update(JSON.stringify(readMigrations(directory)))
    .digest('hex')
    .slice(0, 16);
  const name = `template_${service}_${hash}`;
  const client = new pg.Client({ connectionString: process.env[clusterUrlName] });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(hashtext('almanac test template'), hashtext($1))`, [name]);
    const { rows } = await client.query('select datistemplate from pg_database where datname = $1', [name]);
    if (rows[0]?.datistemplate) return name;
    if (!rows[0]) await client.query(`create database "${name}" template template0`);
    const databaseUrl = Object.assign(new URL(process.env[clusterUrlName] as string), { pathname: `/${name}` }).href;
    await migrate({ databaseUrl, directory, logger: createLogger(service, 'silent') });
    await client.query(`alter database "${name}" is_template true`);
    return name;
  } finally {
    await client.end();
  }
}
