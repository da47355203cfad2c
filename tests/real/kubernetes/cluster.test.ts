// The overlay `local` in a running cluster, with mutual TLS between the services: by the commands of docs/how-to/kubernetes.md and
// rotate-certificates.md. Needs KUBECONFIG of an empty cluster whose Services can be reached from here, with the images of deploy/images.sh and
// scripts/servers/server-images.sh: scripts/servers/kubernetes.sh makes one (docs/how-to/run-tests.md).
import { execFile, execFileSync } from 'node:child_process';
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { type Api, createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/builders';
import { eventually } from '@almanac/testkit/eventually';

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-cluster-'));
const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing'];
const address = '10.96.0.80';
const baseUrl = `http://${address}:8080`;

const run = promisify(execFile);
const options = { cwd: root, maxBuffer: 32 << 20, timeout: 280_000 };
const kubectl = async (...words: string[]): Promise<string> =>
  (await run(process.env.KUBECTL ?? 'kubectl', ['-n', 'almanac', ...words], options)).stdout;
/** `script | kubectl …` */
const send = (text: string, ...words: string[]) =>
  execFileSync(process.env.KUBECTL ?? 'kubectl', ['-n', 'almanac', ...words, '-f', '-'], {
    ...options,
    input: text,
    encoding: 'utf8',
  });
const script = (...words: string[]) => execFileSync(process.execPath, words, { ...options, encoding: 'utf8' });
const trust = (...authorities: string[]) => {
  writeFileSync(
    join(folder, 'ca.crt'),
    authorities.map((name) => readFileSync(join(folder, name, 'authority.crt'))).join(''),
  );
  const made = ['create', 'configmap', 'almanac-rpc-authorities', `--from-file=ca.crt=${join(folder, 'ca.crt')}`];
  return kubectl(...made, '--dry-run=client', '-o', 'yaml').then((text) => send(text, 'apply'));
};

let api: Api;
let table: DeployedTable;

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
      // What stands in for the S3 server is larger, and starts slower.
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

const ready = async (...names: string[]) => {
  for (const name of names) await kubectl('rollout', 'status', name, '--timeout=4m');
};
const pods = async () =>
  (
    await kubectl(
      'get',
      'pods',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{"\\n"}{end}',
    )
  )
    .trim()
    .split('\n')
    .toSorted();

/** Calls of all kinds until it is stopped; answers how many were served, and what was not. */
function keepCalling() {
  const failed: string[] = [];
  let served = 0;
  let goesOn = true;
  const call = async (what: () => Promise<{ status: number; body: unknown }>) => {
    try {
      const { status, body } = await what();
      if (status >= 200 && status < 300) served += 1;
      else failed.push(`${status} ${JSON.stringify(body)}`);
    } catch (error) {
      failed.push(`${error} ${(error as Error).cause}`);
    }
  };
  const caller = async (number: number) => {
    for (let i = 0; goesOn; i++) {
      const record = {
        code: `${number}-${Date.now().toString(36).slice(-5)}${i % 36}`.slice(0, 10),
        name: 'under way',
      };
      await call(() => api.send('POST', '/table_data', { table_definition_id: table.id, record }));
      await call(() =>
        api.send('POST', '/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 20 }),
      );
      await call(() => api.send('GET', '/domains'));
      await call(() => api.send('GET', '/account'));
    }
  };
  const callers = [1, 2, 3].map(caller);
  return {
    stop: async () => {
      goesOn = false;
      await Promise.all(callers);
      return { served, failed };
    },
  };
}

/** What a pod of the service shows whoever calls its gRPC with this certificate; throws when that isn't taken. */
async function shownBy(service: string, own: { cert: string; key: string } | undefined): Promise<X509Certificate> {
  const host = await kubectl('get', 'endpoints', service, '-o', 'jsonpath={.subsets[0].addresses[0].ip}');
  const port = Number(await kubectl('get', 'service', service, '-o', 'jsonpath={.spec.ports[?(@.name=="rpc")].port}'));
  const socket = tls.connect({ host, port, ...own, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate() as X509Certificate;
    // TLS 1.3 refuses a client after the handshake: the server's first frame says that it was taken.
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
  const { data } = JSON.parse(await kubectl('get', 'secret', `almanac-${name}-rpc`, '-o', 'json'));
  const text = (key: string) => Buffer.from(data[key], 'base64').toString();
  return { cert: text('tls.crt'), key: text('tls.key') };
}

/** How often a service has taken up other certificates or authorities. */
const changesOf = async (name: string) =>
  (await kubectl('logs', `deployment/${name}`, '-c', 'service')).split('whom it trusts, has changed').length - 1;
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
    await kubectl('apply', '-f', 'deploy/k8s/overlays/local/namespace.yaml');
    writeFileSync(join(folder, 'almanac.env'), script('deploy/compose-env.js'), { mode: 0o600 });
    send(script('deploy/k8s/secrets.js', join(folder, 'almanac.env')), 'create');
    send(script('deploy/k8s/rpc-certificates.js', join(folder, 'first')), 'apply');
    await trust('first');
    await kubectl('apply', '-k', folder);
    await ready('statefulset/postgres', 'statefulset/rabbitmq', 'statefulset/objects');
    await ready(...services.map((name) => `deployment/${name}`), 'deployment/operator', 'deployment/mail');
  });

  it('makes an account and serves it', async () => {
    const words = ['accounts', 'create', '--name', 'Acme', '--plan', 'enterprise', '--admin-email', 'ops@acme.example'];
    const made = JSON.parse(
      await kubectl(
        'exec',
        'deployment/operator',
        '--',
        'node',
        'scripts/admin.ts',
        ...words,
        '--redirect-uri',
        'http://127.0.0.1:9876/callback',
        '--json',
      ),
    );
    api = createApi(baseUrl, (await signInPerson(baseUrl, made.application, made.admin)).access_token);
    table = await givenDeployedTable(api);
    await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', name: 'first' } });
    const { rows } = await api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 });
    expect(rows).toEqual([expect.objectContaining({ code: 'A', name: 'first' })]);
    const refused = await api.send('POST', '/table_data', { table_definition_id: table.id, record: { code: null } });
    expect([refused.status, refused.body]).toEqual([
      422,
      { error: 'Validation failed', errors: ["code can't be blank"] },
    ]);
    const { usage } = await api.get<{ usage: { calls: number } }>('/account');
    expect(usage.calls).toBeGreaterThan(5);
  });

  it.each(services)('takes %s alone', async (name) => {
    const before = await pods();
    const mine = (pod: string) => pod.startsWith(`${name}-`);
    await kubectl('delete', 'deployment,service,networkpolicy,serviceaccount', '-l', `app.kubernetes.io/name=${name}`);
    const applied = await kubectl('apply', '-k', folder, '-l', `app.kubernetes.io/name=${name}`);
    expect(
      applied
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]?.replace(/\..*\//, '/'))
        .toSorted(),
    ).toEqual(['deployment', 'networkpolicy', 'service', 'serviceaccount'].map((kind) => `${kind}/${name}`));
    await ready(`deployment/${name}`);
    await eventually(() => api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 10 }));
    expect((await pods()).filter((pod) => !mine(pod))).toEqual(before.filter((pod) => !mine(pod)));
  });

  it.each(['data', 'gateway'])('loses no call while %s is replaced', async (name) => {
    const calls = keepCalling();
    await kubectl('rollout', 'restart', `deployment/${name}`);
    await ready(`deployment/${name}`);
    // Until the old pod is gone, too.
    await eventually(async () => expect((await pods()).filter((pod) => pod.startsWith(`${name}-`))).toHaveLength(1), {
      everyMs: 1_000,
    });
    const { served, failed } = await calls.stop();
    console.info(`${name} was replaced under ${served} calls, ${failed.length} of which failed`);
    expect(failed).toEqual([]);
    expect(served).toBeGreaterThan(50);
  });

  it('answers gRPC to nobody without a certificate of its authority', async () => {
    const operator = await certificateOf('operator');
    expect((await shownBy('identity', operator)).checkHost('identity')).toBe('identity');
    await expect(shownBy('identity', undefined)).rejects.toThrow();
    const [, stranger] = JSON.parse(script('deploy/k8s/rpc-certificates.js', join(folder, 'stranger'))).items;
    const own = { cert: stranger.stringData['tls.crt'], key: stranger.stringData['tls.key'] };
    await expect(shownBy('identity', own)).rejects.toThrow();
  });

  it('takes up renewed certificates without a restart or a lost call', async () => {
    const before = await pods();
    const old = await shownBy('identity', await certificateOf('operator'));
    const calls = keepCalling();
    await whenAllHaveChanged(async () =>
      send(script('deploy/k8s/rpc-certificates.js', join(folder, 'first')), 'apply'),
    );
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
    const renewed = script('deploy/k8s/rpc-certificates.js', join(folder, 'second'));
    const calls = keepCalling();
    await whenAllHaveChanged(() => trust('first', 'second'));
    await whenAllHaveChanged(async () => send(renewed, 'apply'));
    await whenAllHaveChanged(() => trust('second'));
    const { served, failed } = await calls.stop();
    console.info(`the authority was exchanged under ${served} calls, ${failed.length} of which failed`);
    expect(failed).toEqual([]);
    await expect(shownBy('identity', old)).rejects.toThrow();
    expect((await shownBy('identity', await certificateOf('operator'))).checkHost('identity')).toBe('identity');
    expect(await pods()).toEqual(before);
  });
});
