// One host with Compose, from the first start over an upgrade to a restored backup, by the commands of docs/how-to/{install,upgrade}.md.
// Needs a Docker engine (DOCKER_HOST) with Compose, the images of deploy/images.sh, and those of scripts/servers/server-images.sh,
// for PostgreSQL and RabbitMQ. Files lie in a folder and mails wait, since images of an S3 and a mail catcher are not at hand.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Api, createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/builders';
import { findFreePort } from '@almanac/testkit/ports';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-compose-'));
const inside = (name: string) => join(folder, name);
const services = ['identity', 'metadata', 'data', 'jobs', 'billing'];

type Made = {
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
};

let environment: NodeJS.ProcessEnv;
let baseUrl: string;
let made: Made;
let table: DeployedTable;

const almanac = async (...words: string[]) => {
  const files = [
    '--env-file',
    inside('almanac.env'),
    '-f',
    join(root, 'deploy/compose.yaml'),
    '-f',
    inside('here.yaml'),
  ];
  const name = ['--project-name', folder.slice(folder.lastIndexOf('/') + 1).toLowerCase()];
  const { stdout } = await promisify(execFile)(
    process.env.DOCKER ?? 'docker',
    ['compose', ...name, ...files, ...words],
    {
      env: environment,
      timeout: 280_000,
      maxBuffer: 32 << 20,
    },
  );
  return stdout;
};
const operator = async <T>(...words: string[]) =>
  JSON.parse(await almanac('run', '--rm', '--no-deps', '-T', 'operator', ...words, '--json')) as T;

beforeAll(async () => {
  if (!process.env.DOCKER_HOST)
    throw new Error('DOCKER_HOST is missing: this needs a Docker engine (scripts/servers/docker.sh start …).');
  const [port, s3, mail] = [await findFreePort(), await findFreePort(), await findFreePort()];
  baseUrl = `http://127.0.0.1:${port}`;
  for (const name of ['backups', 'objects']) {
    mkdirSync(inside(name));
    chmodSync(inside(name), 0o777); // the containers' user writes there
  }
  const keys = execFileSync(process.execPath, [join(root, 'deploy/compose-env.js')], { encoding: 'utf8' });
  writeFileSync(inside('almanac.env'), keys, { mode: 0o600 });
  const prefix = process.env.ALMANAC_SERVER_IMAGES ?? 'almanac-servers/';
  environment = {
    ...process.env,
    ALMANAC_PUBLIC_URL: baseUrl,
    ALMANAC_LISTEN: `127.0.0.1:${port}`,
    S3_LISTEN: `127.0.0.1:${s3}`,
    MAIL_LISTEN: `127.0.0.1:${mail}`,
    ALMANAC_BACKUPS: inside('backups'),
    POSTGRES_IMAGE: `${prefix}postgres`,
    RABBITMQ_IMAGE: `${prefix}rabbitmq`,
  };
  writeFileSync(inside('here.yaml'), override());
});
afterAll(async () => {
  await almanac('down', '--volumes', '--timeout', '20');
  rmSync(folder, { recursive: true, force: true });
});

function override(): string {
  const store = { JOBS_OBJECT_STORE_URL: 'file:///objects', JOBS_SIGNING_KEY: 'x'.repeat(43), JOBS_SMTP_URL: '' };
  const volumes = [`${inside('objects')}:/objects`];
  const absent = { image: 'almanac-base', command: ['sleep', 'infinity'], init: true };
  return JSON.stringify({
    services: {
      jobs: { environment: store, volumes },
      operator: { environment: store, volumes },
      objects: absent,
      mail: absent,
    },
  });
}

const signIn = async (): Promise<Api> =>
  createApi(baseUrl, (await signInPerson(baseUrl, made.application, made.admin)).access_token);
const codes = async (api: Api) => {
  const page = await api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 });
  return page.rows.map(({ code }: { code: string }) => code).toSorted();
};

describe('one host with Compose', () => {
  it('comes up, makes an account and serves it', async () => {
    await almanac('up', '--detach', '--wait', '--wait-timeout', '240');
    made = await operator<Made>(
      ...['accounts', 'create', '--name', 'Acme', '--plan', 'business', '--admin-email', 'ops@acme.example'],
      ...['--redirect-uri', 'http://127.0.0.1:9876/callback'],
    );
    const api = await signIn();
    table = await givenDeployedTable(api);
    await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A' } });
    expect(await codes(api)).toEqual(['A']);
  });

  it('makes a backup', async () => {
    const manifest = await operator<{ databases: unknown[] }>('backup', '/backups/first');
    expect(manifest.databases).toHaveLength(5);
    await (await signIn()).post('/table_data', { table_definition_id: table.id, record: { code: 'B' } });
  });

  it('is upgraded in steps, and keeps what it has when all is stopped and started', async () => {
    await almanac('run', '--rm', '--no-deps', '-T', 'data', 'node', 'src/main.ts', 'migrate');
    await almanac('up', '--detach', '--wait', '--no-deps', '--force-recreate', ...services);
    await almanac('up', '--detach', '--wait', '--no-deps', '--force-recreate', 'gateway');
    expect(await codes(await signIn())).toEqual(['A', 'B']);
    await almanac('down', '--timeout', '60');
    await almanac('up', '--detach', '--wait', '--wait-timeout', '240');
    expect(await codes(await signIn())).toEqual(['A', 'B']);
  });

  it('is restored into empty servers', async () => {
    await almanac('down', '--volumes', '--timeout', '60');
    await almanac('up', '--detach', '--wait', 'postgres', 'rabbitmq');
    await operator('restore', '/backups/first');
    await almanac('up', '--detach', '--wait', '--wait-timeout', '240');
    expect(await codes(await signIn())).toEqual(['A']);
  });
});
