// TLS in production: gRPC and HTTP between the services, with certificates of any issuer, and the
// connections to servers outside.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import tls from 'node:tls';
import { isCertificateOf } from '@almanac/service-kit/tls/service-tls';
import { blocksOf } from '../../../scripts/documentation/shell-commands.ts';
import { readConfig as jobs } from '../../../services/jobs/src/config.ts';
import { type Manifest, render, root } from './render.ts';

const manifests = render('deploy/k8s/overlays/production');
const names = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console', 'operator'];
const folder = mkdtempSync(join(tmpdir(), 'almanac-tls-'));
const authorityFolder = join(folder, 'authority');
const node = (...words: string[]) => execFileSync(process.execPath, words, { encoding: 'utf8', cwd: root });

const issueSecrets = (): Manifest[] => JSON.parse(node('deploy/k8s/rpc-certificates.js', authorityFolder)).items;
const made = issueSecrets();
const authority = readFileSync(join(authorityFolder, 'authority.crt'), 'utf8');
afterAll(() => rmSync(folder, { recursive: true }));

const podOf = (name: string): Manifest =>
  manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name).spec.template.spec;
const containersOf = (name: string): Manifest[] => [...(podOf(name).initContainers ?? []), ...podOf(name).containers];
const secretOf = (name: string): Manifest => made.find(({ metadata }) => metadata.name === `almanac-${name}-rpc`);

/** Where a file of a container comes from: the volume, and the name in it. */
function sourceOf(name: string, container: Manifest, path: string): { volume: Manifest; file: string } {
  const mount = container.volumeMounts.find(({ mountPath }: Manifest) => mountPath === dirname(path));
  expect(mount).toMatchObject({ readOnly: true });
  expect(mount).not.toHaveProperty('subPath'); // would never change again
  const volume = podOf(name).volumes.find((each: Manifest) => each.name === mount.name);
  return { volume, file: path.slice(dirname(path).length + 1) };
}

describe('TLS between the services', () => {
  it.each(names)(
    'has %s show a certificate that it alone has, and trust an authority that is not its own to choose',
    (name) => {
      for (const container of containersOf(name)) {
        const env = Object.fromEntries(container.env.map((each: Manifest) => [each.name, each.value]));
        for (const variable of ['ALMANAC_RPC_TLS_CERT_FILE', 'ALMANAC_RPC_TLS_KEY_FILE']) {
          const { volume, file } = sourceOf(name, container, env[variable]);
          expect(volume.secret).toEqual({ secretName: `almanac-${name}-rpc`, defaultMode: 0o440 }); // fsGroup reads it
          expect(secretOf(name).stringData).toHaveProperty([file]);
        }
        const { volume, file } = sourceOf(name, container, env.ALMANAC_RPC_TLS_CA_FILE);
        expect([volume.configMap, file]).toEqual([{ name: 'almanac-rpc-authorities' }, 'ca.crt']);
      }
      expect(podOf(name).securityContext.fsGroup).toBe(podOf(name).securityContext.runAsUser);
    },
  );

  it.each(names)('has certificates for the name by which %s is called, from any issuer', (name) => {
    const hosts = names.flatMap((caller) =>
      containersOf(caller).flatMap(({ env }) =>
        env
          .filter((each: Manifest) => each.name === `${name.toUpperCase()}_RPC`)
          .map(({ value }: Manifest) => value.split(':')[0]),
      ),
    );
    // The console serves no gRPC, but HTTP by the same certificate.
    if (!['gateway', 'console', 'operator'].includes(name)) expect(hosts.length).toBeGreaterThan(0);
    const wanted = manifests.find(
      ({ kind, spec }) => kind === 'Certificate' && spec.secretName === `almanac-${name}-rpc`,
    );
    const own = new X509Certificate(secretOf(name).stringData['tls.crt']);
    for (const host of [name, ...hosts]) {
      expect(wanted.spec.dnsNames).toContain(host);
      expect(own.checkHost(host)).toBe(host);
    }
    expect(wanted.spec.usages).toEqual(['digital signature', 'server auth', 'client auth']);
    expect(own.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    const others = names.filter((other) => other !== name);
    const issued = (subjectaltname?: string) =>
      others.filter((other) => isCertificateOf(other, { subjectaltname } as tls.PeerCertificate));
    expect(issued(own.subjectAltName)).toEqual([]);
    expect(issued(wanted.spec.dnsNames.map((each: string) => `DNS:${each}`).join(', '))).toEqual([]);
  });

  it('is used by the gateway for HTTP too, and expected by every service', () => {
    const envOf = (name: string): Record<string, string> => {
      const [{ env }] = podOf(name).containers as [Manifest];
      return Object.fromEntries(env.map((each: Manifest) => [each.name, each.value]));
    };
    for (const name of names.filter((each) => !['gateway', 'operator'].includes(each))) {
      expect(envOf(name).ALMANAC_HTTP_TLS).toBe('true');
      expect(envOf('gateway')[`${name.toUpperCase()}_URL`]).toMatch(new RegExp(`^https://${name}-http:\\d+$`));
    }
  });

  it('has cert-manager sign all certificates with one authority, whose key stays when it is renewed', () => {
    const certificates = manifests.filter(({ kind }) => kind === 'Certificate');
    const [issuer] = manifests.filter(({ kind, spec }) => kind === 'Issuer' && spec.ca);
    const root = certificates.find(({ spec }) => spec.isCA);
    expect(issuer?.spec.ca.secretName).toBe(root?.spec.secretName);
    expect(root?.spec.privateKey.rotationPolicy).toBe('Never');
    const leaves = certificates.filter(({ spec }) => !spec.isCA);
    expect(leaves.map(({ spec }) => spec.secretName).toSorted()).toEqual(
      names.map((name) => `almanac-${name}-rpc`).toSorted(),
    );
    for (const { spec } of leaves) {
      expect(spec.issuerRef).toEqual({ name: issuer?.metadata.name, kind: 'Issuer' });
      expect(spec.privateKey.rotationPolicy).toBe('Always');
    }
  });
});

describe('deploy/k8s/rpc-certificates.js', () => {
  const connect = async (asked: string, asker: Manifest, ca = authority) => {
    const of = ({ stringData }: Manifest) => ({ cert: stringData['tls.crt'], key: stringData['tls.key'] });
    const server = tls.createServer({
      ...of(secretOf(asked)),
      ca: authority,
      requestCert: true,
      rejectUnauthorized: true,
    });
    server.on('secureConnection', (socket) => socket.end(JSON.stringify(socket.getPeerCertificate().subjectaltname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as { port: number };
      const socket = tls.connect({ ...of(asker), ca, port, host: '127.0.0.1', servername: asked });
      let text = '';
      for await (const chunk of socket) text += chunk;
      return JSON.parse(text);
    } finally {
      server.close();
    }
  };

  it('makes certificates that authenticate both sides of a connection', async () => {
    expect(await connect('identity', secretOf('gateway'))).toBe('DNS:gateway');
    expect(await connect('billing', secretOf('operator'))).toBe('DNS:operator');
  });

  it('renews them from the same authority, so that old and new ones work with each other', async () => {
    const [renewed] = issueSecrets() as [Manifest];
    expect(renewed.stringData['tls.key']).not.toBe(secretOf('gateway').stringData['tls.key']);
    expect(await connect('identity', renewed)).toBe('DNS:gateway');
    const days = (new X509Certificate(renewed.stringData['tls.crt']).validToDate.getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89);
  });

  it('makes another authority in another folder, which the first does not trust', async () => {
    const [outsider] = JSON.parse(node('deploy/k8s/rpc-certificates.js', join(folder, 'other'))).items;
    await expect(connect('identity', outsider)).rejects.toThrow();
  });
});

describe('servers outside the cluster', () => {
  // The addresses that docs/how-to/kubernetes.md shows for almanac.env.
  const page = readFileSync(join(root, 'docs/how-to/kubernetes.md'), 'utf8');
  const shown = blocksOf(page)
    .find((block) => block.includes('JOBS_DATABASE_URL='))
    ?.replace(/^ +/gm, '') as string;
  const file = join(folder, 'almanac.env');
  writeFileSync(join(folder, 'ca.crt'), authority);
  writeFileSync(file, node('deploy/compose-env.js') + shown, { mode: 0o600 });
  const { items } = JSON.parse(node('deploy/k8s/secrets.js', file)) as { items: Manifest[] };
  const given = Object.assign({}, ...items.map(({ stringData, data }) => stringData ?? data)) as Record<string, string>;
  const urls = Object.entries(given).filter(([, value]) => /^(postgres|amqps?|s3|smtps?):/.test(value));

  it('have addresses with TLS, at ports that the network policies allow', () => {
    const usual: Record<string, string> = { 'postgres:': '5432', 'amqps:': '5671', 's3:': '443' };
    const ports = urls.map(([, value]) => {
      const { port, protocol } = new URL(value);
      return Number(port || usual[protocol]);
    });
    const allowed = manifests
      .filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.startsWith('to-'))
      .flatMap(({ spec }) => spec.egress.flatMap((rule: Manifest) => rule.ports.map(({ port }: Manifest) => port)));
    expect([...new Set(ports)].toSorted()).toEqual(allowed.toSorted());
    expect(urls.length).toBe(8);
    for (const [name, value] of urls) {
      if (name.endsWith('_DATABASE_URL')) expect(new URL(value).searchParams.get('sslmode')).toBe('verify-full');
      expect(value).not.toMatch(/tls=(false|none)|^amqp:/);
    }
  });

  it('are verified by a file that every container has, and the services can read such addresses', () => {
    const paths = urls.map(([, value]) => /(?:sslrootcert|ca_file)=([^&]+)/.exec(value)?.[1] as string);
    for (const path of new Set(paths))
      for (const name of names)
        for (const container of containersOf(name)) {
          const { volume, file } = sourceOf(name, container, path);
          expect([volume.configMap, file]).toEqual([{ name: 'almanac-server-authorities', optional: true }, 'ca.crt']);
        }
    const here = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value.replaceAll(paths[0] as string, join(folder, 'ca.crt')),
      ]),
    );
    expect(() => jobs(here)).not.toThrow();
    expect(() => jobs(given)).toThrow(/ca_file should name a file/); // the file is read, so the line above proves something
  });
});
