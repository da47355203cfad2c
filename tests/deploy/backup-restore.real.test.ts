// Backup and restore with files in S3, in a bucket for each system. At the end pg_dump, which knows
// all that a database can hold, compares the databases. Needs an S3, and PostgreSQL's programs
// (ALMANAC_POSTGRES_PROGRAMS).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { admin, startSystem, systemHome } from '@almanac/testkit/system/system';
import { shown } from '../../scripts/documentation/shell-commands.ts';
import { describeBackup } from '../support/backup-restore.suite.ts';

const work = mkdtempSync(join(tmpdir(), 'almanac-backup-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const programs = process.env.ALMANAC_POSTGRES_PROGRAMS;
if (!programs)
  throw new Error('ALMANAC_POSTGRES_PROGRAMS is missing: this needs pg_dump (scripts/servers/postgres-client.sh …).');

const newBucket = () => {
  const s3 = process.env.ALMANAC_TEST_S3_URL;
  if (!s3) throw new Error('ALMANAC_TEST_S3_URL is missing: this needs an S3 (scripts/servers/ceph-rgw.sh start …).');
  return s3.replace(/\/[a-z0-9.-]+(\?|$)/, `/backup-${randomBytes(6).toString('hex')}$1`);
};

describeBackup(() => ({ old: newBucket(), new: newBucket() }));

it('makes databases in which pg_dump finds no difference', async () => {
  const [home, folder, again] = [systemHome(), join(work, 'backup'), join(work, 'again')];
  const before = await schemasOf(home);
  expect(before.data).toMatch(/CREATE TABLE b_\d+\.t_\d+ /);
  await admin(['backup', folder]);
  cpSync(join(home, 'secrets.json'), join(again, 'secrets.json'));
  process.env.JOBS_OBJECT_STORE_URL = newBucket();
  await admin(['restore', folder], again);
  const system = await startSystem({ home: again, env: { JOBS_OBJECT_STORE_URL: process.env.JOBS_OBJECT_STORE_URL } });
  try {
    expect(await schemasOf(again)).toEqual(before);
  } finally {
    await system.stop();
  }
});

it('is SQL that psql restores', async () => {
  const folder = join(work, 'for-psql');
  await admin(['backup', folder]);
  const database = await createTestDatabase('by_psql');
  try {
    const command = `${shown('backup-and-restore.md', 'zcat data.sql.gz')} | ${shown(
      'backup-and-restore.md',
      'psql --single-transaction --set ON_ERROR_STOP=1 --quiet "$DATA_DATABASE_URL"',
    )}`;
    const env = { PATH: `${programs}:${process.env.PATH}`, DATA_DATABASE_URL: database.url };
    await promisify(execFile)('bash', ['-o', 'pipefail', '-c', command], { cwd: folder, env });
    expect(await schemaIn(database.url)).toBe((await schemasOf(systemHome())).data);
  } finally {
    await database.drop();
  }
});

/** What makes each database, by its name. */
async function schemasOf(home: string): Promise<Record<string, string>> {
  const read = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));
  const port = read('runtime.json').postgres_port;
  const dumped: Record<string, string> = {};
  for (const name of ['billing', 'data', 'identity', 'jobs', 'metadata']) {
    const password = read('secrets.json').database_passwords[name];
    dumped[name] = await schemaIn(`postgres://almanac_${name}:${password}@127.0.0.1:${port}/almanac_${name}`);
  }
  return dumped;
}

/** As pg_dump sees it, without the views for SQL clients, which data makes. */
async function schemaIn(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    join(programs as string, 'pg_dump'),
    ['--schema-only', '--no-owner', '--no-privileges', '--exclude-schema=v_[0-9]*', '--exclude-table=staging.*', url],
    { maxBuffer: 1e8 },
  );
  return stdout.replaceAll(/^\\(un)?restrict .*$/gm, '');
}
