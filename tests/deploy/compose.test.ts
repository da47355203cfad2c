// One host with Compose, from the first start and the README's calls over an upgrade to a restored
// backup, by the commands of docs/how-to/{install,upgrade}.md. Needs a Docker engine (DOCKER_HOST)
// with Compose, the images of deploy/images.sh, and the servers' images of
// scripts/servers/server-images.sh. Their S3 loses its files when it stops, so no file is read
// after that.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Api, createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/system/builders';
import { runDocumentedCalls } from '@almanac/testkit/system/documented-calls';
import { shown } from '../../scripts/documentation/shell-commands.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-compose-'));
const inside = (name: string) => join(folder, name);

type Made = {
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
};

let environment: NodeJS.ProcessEnv;
let baseUrl: string;
let made: Made;
let table: DeployedTable;

/** Runs a command of the pages; `almanac` is the alias of install.md, for this test's system. */
const run = async (command: string) => {
  const alias = `almanac() { "$DOCKER" compose --project-name "$PROJECT" --env-file "$ENV_FILE" -f deploy/compose.yaml "$@"; }`;
  const options = { cwd: root, env: environment, timeout: 280_000, maxBuffer: 32 << 20 };
  return (await promisify(execFile)('bash', ['-c', `${alias}\n${command}`], options)).stdout;
};
const almanac = (words: string) => run(`almanac ${words}`);
const operator = async <T>(words: string) =>
  JSON.parse(await almanac(`run --rm --no-deps -T operator ${words} --json`)) as T;

beforeAll(async () => {
  if (!process.env.DOCKER_HOST)
    throw new Error('DOCKER_HOST is missing: this needs a Docker engine (scripts/servers/docker.sh start …).');
  const [port, s3, mail] = [await findFreePort(), await findFreePort(), await findFreePort()];
  baseUrl = `http://127.0.0.1:${port}`;
  mkdirSync(inside('backups'));
  chmodSync(inside('backups'), 0o777); // the containers' user writes there
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
    S3_IMAGE: `${prefix}objects`,
    S3_MEMORY: '2g', // the stand-in is larger
    S3_PUBLIC_URL: `http://127.0.0.1:${s3}`,
    MAIL_IMAGE: `${prefix}mail`,
    DOCKER: process.env.DOCKER ?? 'docker',
    PROJECT: folder.slice(folder.lastIndexOf('/') + 1).toLowerCase(),
    ENV_FILE: inside('almanac.env'),
  };
  writeFileSync(inside('almanac.env'), await run(shown('install.md', 'node deploy/compose-env.js')), { mode: 0o600 });
});
afterAll(async () => {
  await almanac('down --volumes --timeout 20');
  rmSync(folder, { recursive: true, force: true });
});

const signIn = async (): Promise<Api> =>
  createApi(baseUrl, (await signInPerson(baseUrl, made.application, made.admin)).access_token);
const codes = async (api: Api) => {
  const page = await api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 });
  return page.rows.map(({ code }: { code: string }) => code).toSorted();
};

describe('one host with Compose', () => {
  it("comes up, and answers the README's calls as the README shows", async () => {
    await run(shown('install.md', 'almanac up --detach --wait'));
    mkdirSync(inside('.almanac'));
    const credentials = `"${inside('.almanac/credentials.json')}"`;
    const create = shown(
      'install.md',
      'almanac run --rm -T operator accounts create --name Demo --plan business --admin-email admin@demo.example --json',
    );
    await run(`${create} > ${credentials}`);
    await run(`${shown('install.md', 'almanac run --rm -T operator accounts add-demo-data')} < ${credentials}`);
    const calls = await runDocumentedCalls(baseUrl, folder);
    expect(calls).toHaveLength(5);
    for (const call of calls) expect(call.answered).toBe(call.shown);
  });

  it('makes an account and serves it', async () => {
    const create = shown(
      'install.md',
      'almanac run --rm operator accounts create --name Acme --plan business --admin-email ops@acme.example',
    );
    made = JSON.parse(await run(`${create} --redirect-uri http://127.0.0.1:9876/callback --json`));
    const api = await signIn();
    table = await givenDeployedTable(api);
    await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A' } });
    expect(await codes(api)).toEqual(['A']);
  });

  it('stores files where clients can fetch them, and shows mails instead of sending them', async () => {
    const api = await signIn();
    const { id } = await api.post<{ id: number }>('/exports', {
      branch_id: table.branchId,
      table_definition_key: table.key,
      pattern: 'full',
    });
    const done = await eventually(async () => {
      const seen = await api.get<{ status: string; download_url: string }>(`/exports/${id}`);
      expect(seen.status).toBe('completed');
      return seen;
    });
    expect(await (await fetch(done.download_url)).text()).toContain('A');
    await api.post('/users', { email: 'new@acme.example' });
    await eventually(async () => expect(await almanac('logs mail')).toContain('To: new@acme.example'));
  });

  it('books the calls that a killed gateway had counted, with another container in its place', async () => {
    const api = await signIn();
    const { usage: before } = await api.get<{ usage: { calls: number } }>('/account');
    let served = 0;
    await almanac('pause billing'); // no report is accepted; calls continue on what is reserved
    try {
      for (let i = 0; i < 40; i++) {
        const { status } = await api.send('GET', '/domains');
        if (status === 200) served += 1;
      }
      await almanac('kill gateway');
      await almanac('rm --force gateway');
    } finally {
      await almanac('unpause billing');
    }
    expect(served).toBeGreaterThan(0);
    await almanac('up --detach --wait gateway');
    await eventually(async () => {
      const { usage } = await (await signIn()).get<{ usage: { calls: number } }>('/account');
      expect(usage.calls).toBeGreaterThanOrEqual(before.calls + served);
    });
  });

  it('makes a backup', async () => {
    const manifest = await operator<{ databases: unknown[] }>('backup /backups/first');
    expect(manifest.databases).toHaveLength(5);
    await (await signIn()).post('/table_data', { table_definition_id: table.id, record: { code: 'B' } });
  });

  it('is upgraded in steps, and keeps its data when everything is stopped and started', async () => {
    await run(shown('upgrade.md', 'almanac run --rm --no-deps data node src/main.ts migrate'));
    await run(
      `${shown('upgrade.md', 'almanac up --detach --wait --no-deps identity billing data metadata jobs console')} --force-recreate`,
    );
    await run(`${shown('upgrade.md', 'almanac up --detach --wait --no-deps gateway')} --force-recreate`);
    expect(await codes(await signIn())).toEqual(['A', 'B']);
    await almanac('down --timeout 60');
    await almanac('up --detach --wait --wait-timeout 240');
    expect(await codes(await signIn())).toEqual(['A', 'B']);
  });

  it('is restored into empty servers', async () => {
    await almanac('down --volumes --timeout 60');
    await almanac('up --detach --wait postgres rabbitmq objects');
    await eventually(() => operator('restore /backups/first'), { everyMs: 2_000 }); // until the S3 server takes files
    await almanac('up --detach --wait --wait-timeout 240');
    expect(await codes(await signIn())).toEqual(['A']);
  });
});
