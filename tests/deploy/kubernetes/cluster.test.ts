// The overlay `local` in a running cluster, with mutual TLS between the services, by the commands
// of docs/how-to/kubernetes.md and rotate-certificates.md. Needs KUBECONFIG of an empty cluster
// whose Services this machine reaches, with the images of deploy/images.sh and
// scripts/servers/server-images.sh; scripts/servers/kubernetes.sh makes one
// (docs/how-to/run-tests.md).
import { execFile, spawn } from 'node:child_process';
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { type Api, createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/system/builders';
import { shown } from '../../../scripts/documentation/shell-commands.ts';
import type { Manifest } from './render.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-cluster-'));
const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'];
const address = '10.96.0.80';
const baseUrl = `http://${address}:8080`;

const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  KUBECTL: process.env.KUBECTL ?? 'kubectl',
};
const options = { env: environment, maxBuffer: 32 << 20, timeout: 280_000 };
/** Runs a command of the pages, or one like them, in the folder of the repository or another. */
const run = async (command: string, cwd = root): Promise<string> =>
  (
    await promisify(execFile)('bash', ['-c', `kubectl() { "$KUBECTL" "$@"; }; set -o pipefail\n${command}`], {
      ...options,
      cwd,
    })
  ).stdout;
const kubectl = (words: string) => run(`kubectl -n almanac ${words}`);

/** The command that a page shows as `made | kubectl …`, with the folders of this test. */
const issueCertificates = (authority: string) =>
  run(
    `${shown('rotate-certificates.md', 'node deploy/k8s/rpc-certificates.js rpc-authority').replace('rpc-authority', join(folder, authority))} | ` +
      shown('rotate-certificates.md', 'kubectl -n almanac apply -f -'),
  );
async function trust(...authorities: string[]) {
  const certificates = authorities.map((name) => readFileSync(join(folder, name, 'authority.crt')));
  writeFileSync(join(folder, 'ca.crt'), certificates.join(''));
  await run(
    `${shown('rotate-certificates.md', 'kubectl -n almanac create configmap almanac-rpc-authorities --from-file=ca.crt --dry-run=client -o yaml')} | ${shown('rotate-certificates.md', 'kubectl apply -f -')}`,
    folder,
  );
}

let api: Api;
let table: DeployedTable;
let rows = 0;

beforeAll(() => {
  if (!process.env.KUBECONFIG)
    throw new Error('KUBECONFIG is missing: this needs a cluster (scripts/servers/kubernetes.sh start …).');
  const image = (name: string, ours: string) => ({ name, newName: `almanac-servers/${ours}`, newTag: 'latest' });
  const here = (path: string) => relative(folder, join(root, path));
  const each = (kind: string, name: string, ...operations: object[]) => ({
    target: { kind, name },
    patch: JSON.stringify(operations, null, 1),
  });
  const own = (path: string) => ({ op: 'add', path: `/spec/template/spec/${path}/0/imagePullPolicy`, value: 'Never' });
  const overlay = {
    resources: [here('deploy/k8s/overlays/local')],
    components: [here('deploy/k8s/components/rpc-tls')],
    images: [
      ...[image('postgres', 'postgres'), image('rabbitmq', 'rabbitmq')],
      ...[image('versity/versitygw', 'objects'), image('axllent/mailpit', 'mail')],
    ],
    patches: [
      each('Service', 'gateway', { op: 'add', path: '/spec/clusterIP', value: address }),
      each('ConfigMap', 'almanac', { op: 'replace', path: '/data/ALMANAC_PUBLIC_URL', value: baseUrl }),
      each('StatefulSet', 'postgres', own('containers')),
      each('StatefulSet', 'rabbitmq', own('containers'), own('initContainers')),
      each('Deployment', 'mail', own('containers')),
      // The stand-in for the S3 server is larger, and starts slower.
      each(
        'StatefulSet',
        'objects',
        own('containers'),
        { op: 'replace', path: '/spec/template/spec/containers/0/resources/limits/memory', value: '2Gi' },
        { op: 'replace', path: '/spec/template/spec/containers/0/startupProbe/failureThreshold', value: 600 },
      ),
    ],
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The pods that are not being deleted, with the restarts of their containers. */
async function pods(): Promise<string[]> {
  const { items } = JSON.parse(await kubectl('get pods -o json'));
  return items
    .filter(({ metadata }: Manifest) => !metadata.deletionTimestamp)
    .map(
      ({ metadata, status }: Manifest) =>
        `${metadata.name} ${status.containerStatuses.map((each: Manifest) => each.restartCount)}`,
    )
    .toSorted();
}
const hasOnePod = async (name: string) =>
  eventually(
    async () =>
      expect((await kubectl(`get pods -l app.kubernetes.io/name=${name} -o name`)).trim().split('\n')).toHaveLength(1),
    {
      everyMs: 1_000,
    },
  );

/** Makes calls of all kinds until stopped; then returns how many were served, and the failures. */
function keepCalling() {
  const failed: string[] = [];
  let served = 0;
  let isRunning = true;
  const call = async (what: () => Promise<{ status: number; body: unknown }>) => {
    try {
      const { status, body } = await what();
      if (status >= 200 && status < 300) served += 1;
      else failed.push(`${status} ${JSON.stringify(body)}`);
    } catch (error) {
      failed.push(`${error} ${(error as Error).cause}`);
    }
  };
  const caller = async () => {
    while (isRunning) {
      rows += 1;
      const record = { code: `r${rows}`, name: 'under way' };
      await call(() => api.send('POST', '/table_data', { table_definition_id: table.id, record }));
      await call(() =>
        api.send('POST', '/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 20 }),
      );
      await call(() => api.send('GET', '/domains'));
      await call(() => api.send('GET', '/account'));
    }
  };
  const callers = [caller(), caller(), caller()];
  return {
    stop: async () => {
      isRunning = false;
      await Promise.all(callers);
      return { served, failed };
    },
  };
}

/** The certificate of a pod's gRPC server; throws when the server refuses the client's `own`. */
async function shownBy(service: string, own: { cert: string; key: string } | undefined): Promise<X509Certificate> {
  const host = await kubectl(`get endpoints ${service} -o 'jsonpath={.subsets[0].addresses[0].ip}'`);
  const port = 9081 + services.indexOf(service) - 1;
  const socket = tls.connect({ host, port, ...own, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate() as X509Certificate;
    // TLS 1.3 refuses a client after the handshake; the server's first bytes show that it accepted.
    await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => Promise.reject(new Error('The connection was closed.'))),
    ]);
    return certificate;
  } finally {
    socket.destroy();
  }
}

async function certificateOf(name: string) {
  const { data } = JSON.parse(await kubectl(`get secret almanac-${name}-rpc -o json`));
  const text = (key: string) => Buffer.from(data[key], 'base64').toString();
  return { cert: text('tls.crt'), key: text('tls.key') };
}

/** How often a service has loaded other certificates or authorities. */
const changesOf = async (name: string) =>
  (await kubectl(`logs deployment/${name} -c service`)).split('whom it trusts, has changed').length - 1;
async function whenAllHaveChanged(change: () => Promise<unknown>) {
  const before = new Map<string, number>();
  for (const name of services) before.set(name, await changesOf(name));
  await change();
  for (const name of services)
    await eventually(async () => expect(await changesOf(name)).toBeGreaterThan(before.get(name) as number), {
      withinMs: 200_000,
      everyMs: 1_000,
    });
}

describe('the overlay `local`, with TLS between the services', () => {
  it('comes up', async () => {
    const file = join(folder, 'almanac.env');
    await run(`umask 077; ${shown('kubernetes.md', 'node deploy/compose-env.js')} > ${file}`);
    await run(shown('kubernetes.md', 'kubectl apply -f deploy/k8s/overlays/local/namespace.yaml'));
    const secrets = shown('kubernetes.md', 'node deploy/k8s/secrets.js almanac.env').replace('almanac.env', file);
    await run(`${secrets} | ${shown('kubernetes.md', 'kubectl -n almanac create -f -')}`);
    await issueCertificates('first');
    const trusted = shown(
      'rotate-certificates.md',
      'kubectl -n almanac create configmap almanac-rpc-authorities --from-file=ca.crt=rpc-authority/authority.crt',
    );
    await run(trusted.replace('rpc-authority/', `${join(folder, 'first')}/`));
    await run(
      shown('kubernetes.md', 'kubectl apply -k deploy/k8s/overlays/local').replace('deploy/k8s/overlays/local', folder),
    );
    await kubectl('rollout status statefulset --timeout=4m');
    await run(shown('kubernetes.md', 'kubectl -n almanac rollout status deployment --timeout=10m'));
  });

  it('makes an account and serves it', async () => {
    const create = shown(
      'kubernetes.md',
      'kubectl -n almanac exec deployment/operator -- node packages/admin-cli/src/main.ts accounts create --name Acme --plan business --admin-email ops@acme.example',
    );
    const made = JSON.parse(await run(`${create} --redirect-uri http://127.0.0.1:9876/callback --json`));
    api = createApi(baseUrl, (await signInPerson(baseUrl, made.application, made.admin)).access_token);
    table = await givenDeployedTable(api);
    await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', name: 'first' } });
    const { rows } = await api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 });
    expect(rows).toEqual([expect.objectContaining({ code: 'A', name: 'first' })]);
    const refused = await api.send('POST', '/table_data', { table_definition_id: table.id, record: { code: null } });
    expect([refused.status, refused.body]).toEqual([
      422,
      refusal('Validation failed', 'blank', "code can't be blank", { column: 'code' }),
    ]);
    const { usage } = await api.get<{ usage: { calls: number } }>('/account');
    expect(usage.calls).toBeGreaterThan(5);
  });

  it('is reached from a machine outside', async () => {
    const command = shown('kubernetes.md', 'kubectl -n almanac port-forward service/gateway 8080');
    const words = command.replace('8080', ':8080').split(' ').slice(1); // any free port here
    const forwarding = spawn(environment.KUBECTL, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(forwarding.stdout, 'data');
      const port = /127\.0\.0\.1:(\d+) /.exec(String(line))?.[1];
      const answer = await createApi(`http://127.0.0.1:${port}`, api.token).get<{ name: string }>('/account');
      expect(answer.name).toBe('Acme');
    } finally {
      forwarding.kill();
    }
  });

  it('runs the operators’ commands in a pod of their own', async () => {
    await run(shown('kubernetes.md', 'kubectl -n almanac scale deployment/operator --replicas=1'));
    const list = shown(
      'kubernetes.md',
      'kubectl -n almanac exec deployment/operator -- node packages/admin-cli/src/main.ts accounts list',
    );
    expect(await run(list)).toContain('Acme');
    const backup = shown(
      'kubernetes.md',
      'kubectl -n almanac exec deployment/operator -- node packages/admin-cli/src/main.ts backup /backups/first',
    );
    expect(JSON.parse(await run(`${backup} --json`)).databases).toHaveLength(5);
    await run(shown('kubernetes.md', 'kubectl -n almanac scale deployment/operator --replicas=0'));
    await eventually(
      async () => expect(await kubectl('get pods -l app.kubernetes.io/name=operator -o name')).toBe(''),
      { everyMs: 1_000 },
    );
  });

  it.each(services)('applies %s alone', async (name) => {
    const before = await pods();
    const mine = (pod: string) => pod.startsWith(`${name}-`);
    await kubectl(`delete deployment,service,networkpolicy,serviceaccount -l app.kubernetes.io/name=${name}`);
    const alone = shown(
      'kubernetes.md',
      'kubectl apply -k deploy/k8s/overlays/production -l app.kubernetes.io/name=data',
    );
    const applied = await run(alone.replace('deploy/k8s/overlays/production', folder).replace('=data', `=${name}`));
    const kinds = applied
      .trim()
      .split('\n')
      .map((line) => line.replace(/^([a-z]+)\S* .*/, '$1'))
      .toSorted();
    const forHttp = name === 'gateway' ? [] : ['service'];
    expect(kinds).toEqual(['deployment', 'networkpolicy', 'service', ...forHttp, 'serviceaccount']);
    await run(shown('kubernetes.md', 'kubectl -n almanac rollout status deployment/data').replace('/data', `/${name}`));
    await eventually(() => api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 }));
    expect((await pods()).filter((pod) => !mine(pod))).toEqual(before.filter((pod) => !mine(pod)));
  });

  it.each(['data', 'gateway'])('loses no call while %s is replaced', async (name) => {
    const upgrade = shown(
      'kubernetes.md',
      'kubectl -n almanac set image deployment/data migrate=registry.example.com/almanac/data:0.2.0 service=registry.example.com/almanac/data:0.2.0',
    );
    const calls = keepCalling();
    // The same image under its full name, which Kubernetes takes for another one. The gateway has
    // no migrations.
    if (name === 'data')
      await run(upgrade.replaceAll('registry.example.com/almanac/data:0.2.0', 'docker.io/almanac/data:latest'));
    else await kubectl(`rollout restart deployment/${name}`);
    await kubectl(`rollout status deployment/${name}`);
    await hasOnePod(name);
    const { served, failed } = await calls.stop();
    console.info(`${name} was replaced under ${served} calls, ${failed.length} of which failed`);
    expect(failed).toEqual([]);
    expect(served).toBeGreaterThan(50);
  });

  it('refuses gRPC without a certificate of its authority', async () => {
    const operator = await certificateOf('operator');
    expect((await shownBy('identity', operator)).checkHost('identity')).toBe('identity');
    await expect(shownBy('identity', undefined)).rejects.toThrow();
    const [, outsider] = JSON.parse(await run(`node deploy/k8s/rpc-certificates.js ${join(folder, 'outsider')}`)).items;
    const own = { cert: outsider.stringData['tls.crt'], key: outsider.stringData['tls.key'] };
    await expect(shownBy('identity', own)).rejects.toThrow();
  });

  it('loads renewed certificates without a restart or a lost call', async () => {
    const before = await pods();
    const old = await shownBy('identity', await certificateOf('operator'));
    const calls = keepCalling();
    await whenAllHaveChanged(() => issueCertificates('first'));
    const { served, failed } = await calls.stop();
    console.info(`certificates were renewed under ${served} calls, ${failed.length} of which failed`);
    expect(failed).toEqual([]);
    const renewed = await shownBy('identity', await certificateOf('operator'));
    expect(renewed.serialNumber).not.toBe(old.serialNumber);
    expect(await pods()).toEqual(before);
  });

  it('exchanges the authority in three steps without a restart or a lost call', async () => {
    const before = await pods();
    const old = await certificateOf('operator');
    await run(`node deploy/k8s/rpc-certificates.js ${join(folder, 'second')}`); // makes the authority; its certificates are not used
    const calls = keepCalling();
    await whenAllHaveChanged(() => trust('first', 'second'));
    await whenAllHaveChanged(() => issueCertificates('second'));
    await whenAllHaveChanged(() => trust('second'));
    const { served, failed } = await calls.stop();
    console.info(`the authority was exchanged under ${served} calls, ${failed.length} of which failed`);
    expect(failed).toEqual([]);
    await expect(shownBy('identity', old)).rejects.toThrow();
    expect((await shownBy('identity', await certificateOf('operator'))).checkHost('identity')).toBe('identity');
    expect(await pods()).toEqual(before);
  });
});
