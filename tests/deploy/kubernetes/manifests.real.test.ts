// The manifests against what the services read, listen on and call.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { readConfig as billing } from '../../../services/billing/src/config.ts';
import { readConfig as consoleServer } from '../../../services/console/src/config.ts';
import { readConfig as data } from '../../../services/data/src/config.ts';
import { readConfig as gateway } from '../../../services/gateway/src/config.ts';
import { readConfig as identity } from '../../../services/identity/src/config.ts';
import { readConfig as jobs } from '../../../services/jobs/src/config.ts';
import { readConfig as metadata } from '../../../services/metadata/src/config.ts';
import { type Manifest, nameOf, render, renderCopy, root, templateOf } from './render.ts';

const readers = { gateway, identity, metadata, data, jobs, billing, console: consoleServer };
const services = Object.keys(readers) as (keyof typeof readers)[];
const overlays = ['deploy/k8s/overlays/local', 'deploy/k8s/overlays/production'];
const rendered = new Map(overlays.map((folder) => [folder, render(folder)]));
const made = makeSecrets();

const find = (manifests: Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
};
const podOf = (manifest: Manifest) => templateOf(manifest).spec;
const containersOf = (manifest: Manifest): Manifest[] => [
  ...podOf(manifest).containers,
  ...(podOf(manifest).initContainers ?? []),
];
const workloadsOf = (manifests: Manifest[]) =>
  manifests.filter(({ kind }) => /^(Deployment|StatefulSet|CronJob)$/.test(kind));

/** The Secrets and the ConfigMap of keys, as an operator makes them. */
function makeSecrets(): Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-secrets-'));
  try {
    const run = (...words: string[]) => execFileSync(process.execPath, words, { encoding: 'utf8', cwd: root });
    writeFileSync(join(folder, 'almanac.env'), run('deploy/compose-env.js'), { mode: 0o600 });
    return JSON.parse(run('deploy/k8s/secrets.js', join(folder, 'almanac.env'))).items;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The environment that a container gets; throws for a missing name, as the kubelet would. */
function environmentOf(container: Manifest, manifests: Manifest[]): Record<string, string> {
  const all = [...manifests, ...made];
  const value = (from: Manifest): string | undefined => {
    const { secretKeyRef: secret, configMapKeyRef: map } = from;
    const { name, key, optional } = secret ?? map;
    const text = secret ? find(all, 'Secret', name).stringData[key] : find(all, 'ConfigMap', name).data[key];
    if (text === undefined && !optional) throw new Error(`${name} has no ${key}.`);
    return text;
  };
  const env: Record<string, string> = {};
  for (const { configMapRef } of container.envFrom ?? [])
    Object.assign(env, find(all, 'ConfigMap', configMapRef.name).data);
  for (const { name, value: literal, valueFrom } of container.env ?? []) {
    const text = valueFrom ? value(valueFrom) : literal;
    if (text !== undefined) env[name] = text;
  }
  return env;
}

/** The Services that a workload's settings name, by their hosts. */
function addressesOf(env: Record<string, string>): { kind: 'URL' | 'RPC'; host: string; port: number }[] {
  return Object.entries(env).flatMap(([variable, address]) => {
    const kind = /_(RPC|URL)$/.exec(variable)?.[1] as 'URL' | 'RPC' | undefined;
    if (!kind || /_DATABASE_URL$|_(BUS|PUBLIC|STORE|SMTP)_URL$/.test(variable)) return [];
    const { hostname: host, port } = new URL(kind === 'URL' ? address : `http://${address}`);
    return [{ kind, host, port: Number(port) }];
  });
}

/**
 * `gateway>data:8083` for each call of a service's configuration: the pods behind the Service, and
 * their port.
 */
function callsOf(name: string, env: Record<string, string>, manifests: Manifest[]): string[] {
  return addressesOf(env).map(({ host, port }) => {
    const { selector } = find(manifests, 'Service', host).spec;
    return `${name}>${selector['app.kubernetes.io/name']}:${port}`;
  });
}

const labelOf = (peer: Manifest): string | undefined => peer.podSelector?.matchLabels?.['app.kubernetes.io/name'];
const policies = (manifests: Manifest[], direction: 'ingress' | 'egress') =>
  manifests
    .filter(({ kind, metadata: { name } }) => kind === 'NetworkPolicy' && [...services, 'operator'].includes(name))
    .flatMap(({ metadata: { name }, spec }) =>
      (spec[direction] ?? []).flatMap((rule: Manifest) =>
        (rule[direction === 'ingress' ? 'from' : 'to'] ?? []).flatMap((peer: Manifest) =>
          labelOf(peer)
            ? rule.ports.map(({ port }: { port: number }) =>
                direction === 'ingress' ? `${labelOf(peer)}>${name}:${port}` : `${name}>${labelOf(peer)}:${port}`,
              )
            : [],
        ),
      ),
    )
    .toSorted();

describe.each(overlays)('%s', (folder) => {
  const manifests = rendered.get(folder) as Manifest[];
  const deployment = (name: string) => find(manifests, 'Deployment', name);

  describe.each(services)('%s', (name) => {
    const [service] = podOf(deployment(name)).containers;

    it('can read its settings, and reads every one that it is given', () => {
      const asked = new Set<string>();
      const given = environmentOf(service, manifests);
      const env = new Proxy(given, {
        get: (target, variable: string) => {
          asked.add(variable);
          return target[variable];
        },
      });
      readers[name](env);
      expect(Object.keys(given).filter((variable) => !asked.has(variable))).toEqual([]);
    });

    it('listens on the ports that the manifest and its Services name, on all addresses', () => {
      const env = environmentOf(service, manifests);
      const config = readers[name](env);
      const own = { http: config.common.httpPort, ...('rpcPort' in config ? { rpc: config.rpcPort } : {}) };
      const metrics = 'metricsPort' in config ? { metrics: config.metricsPort } : {};
      expect(Object.fromEntries(service.ports.map((port: Manifest) => [port.name, port.containerPort]))).toEqual({
        ...own,
        ...metrics,
      });
      const ports = manifests
        .filter(({ kind, spec }) => kind === 'Service' && spec.selector['app.kubernetes.io/name'] === name)
        .flatMap(({ spec }) => spec.ports);
      expect(ports).toHaveLength(Object.keys(own).length);
      expect(Object.fromEntries(ports.map((port: Manifest) => [port.targetPort, port.port]))).toEqual(own);
      expect(config.common.host).toBe('0.0.0.0');
    });

    it('has the memory that its own folder says, whatever is common to all', () => {
      const file = readFileSync(join(root, `deploy/k8s/services/${name}/deployment.yaml`), 'utf8');
      const own = parseAllDocuments(file).map((document) => document.toJS());
      const { resources } = podOf(find(own, 'Deployment', name)).containers[0];
      expect([service.resources.requests.memory, service.resources.limits]).toEqual([
        resources.requests.memory,
        resources.limits,
      ]);
    });

    it('migrates before it serves, with the settings that it serves with', () => {
      const [migrate] = podOf(deployment(name)).initContainers ?? [];
      if (name === 'gateway' || name === 'console') return expect(migrate).toBeUndefined();
      expect(migrate.command).toEqual(['node', 'src/main.ts', 'migrate']);
      expect([migrate.image, migrate.env, migrate.envFrom]).toEqual([service.image, service.env, service.envFrom]);
    });

    it('stops gracefully: no pod fewer during a replacement, and time for more than draining', () => {
      const { strategy, replicas } = deployment(name).spec;
      expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      expect(replicas).toBeUndefined();
      const { drainSeconds } = readers[name](environmentOf(service, manifests)).common;
      const run = readFileSync(join(root, 'packages/service-kit/src/process/run.ts'), 'utf8');
      const stopsWithin = Number(/stopWithinMs = ([\d_]+);/.exec(run)?.[1]?.replace('_', '')) / 1000;
      expect(drainSeconds).toBeGreaterThan(5 + 2); // how long DNS keeps the address, and until each node's rules are without it
      expect(drainSeconds).toBeLessThan(stopsWithin);
      expect(podOf(deployment(name)).terminationGracePeriodSeconds).toBeGreaterThan(stopsWithin);
    });

    it('has its health checked at its HTTP port', () => {
      const asks = (probe: string) => service[probe].httpGet;
      const isTls = name !== 'gateway' && readers[name](environmentOf(service, manifests)).common.httpTls;
      const port = { port: 'http', ...(isTls ? { scheme: 'HTTPS' } : {}) };
      expect(asks('startupProbe')).toEqual({ path: '/healthz', ...port });
      expect(asks('livenessProbe')).toEqual({ path: '/healthz', ...port });
      expect(asks('readinessProbe')).toEqual({ path: '/readyz', ...port });
    });

    it('is spread over nodes and zones', () => {
      expect(podOf(deployment(name)).topologySpreadConstraints).toEqual(
        ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) =>
          expect.objectContaining({
            topologyKey,
            labelSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
          }),
        ),
      );
    });
  });

  it('has each image that deploy/images.sh builds, and no other of ours', () => {
    const built = /images=\((gateway[^)]*)\)/.exec(readFileSync(join(root, 'deploy/images.sh'), 'utf8'))?.[1];
    const used = workloadsOf(manifests).flatMap((manifest) =>
      containersOf(manifest).flatMap(({ image }) => /(?:^|\/)almanac\/([^:]+)/.exec(image)?.[1] ?? []),
    );
    expect([...new Set(used)].toSorted()).toEqual(built?.split(' ').toSorted());
  });

  it('pulls no image that the node has, and none without a version', () => {
    for (const manifest of workloadsOf(manifests))
      for (const { image, imagePullPolicy } of containersOf(manifest)) {
        if (/(^|\/)almanac\//.test(image)) expect([image, imagePullPolicy]).toEqual([image, 'IfNotPresent']);
        else expect(image).toMatch(/:v?\d/);
      }
  });

  it('admits to a service the callers whose settings name it, and no others', () => {
    const calls = [...services, 'operator'].flatMap((name) =>
      callsOf(name, environmentOf(podOf(deployment(name)).containers[0], manifests), manifests),
    );
    expect(calls.length).toBeGreaterThan(15);
    expect(policies(manifests, 'ingress').filter((call) => !/^undefined/.test(call))).toEqual(calls.toSorted());
    expect(policies(manifests, 'egress')).toEqual(calls.toSorted());
  });

  it('leads HTTP to Services that balance connections, and gRPC to headless ones, whose callers balance', () => {
    const addresses = [...services, 'operator'].flatMap((name) =>
      addressesOf(environmentOf(podOf(deployment(name)).containers[0], manifests)),
    );
    expect(addresses.filter(({ kind }) => kind === 'URL')).toHaveLength(services.length - 1);
    for (const { kind, host, port } of addresses) {
      const { clusterIP, ports, publishNotReadyAddresses } = find(manifests, 'Service', host).spec;
      expect([host, clusterIP]).toEqual([host, kind === 'RPC' ? 'None' : undefined]);
      expect([host, publishNotReadyAddresses]).toEqual([host, undefined]); // readiness says who gets calls
      expect([host, ports]).toEqual([host, [expect.objectContaining({ name: kind === 'RPC' ? 'rpc' : 'http', port })]]);
    }
  });

  it('has a network policy in each direction for every pod, and none that selects no pod', () => {
    const labels = workloadsOf(manifests).map((each) => templateOf(each).metadata.labels['app.kubernetes.io/name']);
    const selected = manifests
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap((policy) =>
        selectedBy(policy).flatMap((name) => policy.spec.policyTypes.map((type: string) => `${name} ${type}`)),
      );
    expect([...new Set(selected)].toSorted()).toEqual(
      labels.flatMap((name) => [`${name} Egress`, `${name} Ingress`]).toSorted(),
    );
  });

  it('selects pods by labels that they have', () => {
    for (const each of workloadsOf(manifests))
      if (each.spec.selector) expect(templateOf(each).metadata.labels).toMatchObject(each.spec.selector.matchLabels);
    const templates = workloadsOf(manifests).map((each) => templateOf(each).metadata.labels);
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Service'))
      expect(templates).toContainEqual(expect.objectContaining(spec.selector));
  });

  it('sends the calls of every Service to a port that its pods name', () => {
    for (const manifest of manifests.filter(({ kind }) => kind === 'Service')) {
      const name = manifest.spec.selector['app.kubernetes.io/name'];
      const pod = workloadsOf(manifests).find(
        ({ spec }) => spec.selector?.matchLabels['app.kubernetes.io/name'] === name,
      );
      const ports: Manifest[] = containersOf(pod).flatMap(({ ports }) => ports ?? []);
      for (const port of manifest.spec.ports)
        expect([nameOf(manifest), ports.map((own) => [own.name, own.containerPort])]).toEqual([
          nameOf(manifest),
          expect.arrayContaining([[port.targetPort ?? port.name, port.port]]),
        ]);
    }
  });

  it('gives no pod more than it needs', () => {
    for (const manifest of workloadsOf(manifests)) {
      expect(podOf(manifest)).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of containersOf(manifest))
        expect([nameOf(manifest), container]).toEqual([
          nameOf(manifest),
          expect.objectContaining({
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            resources: {
              requests: { cpu: expect.anything(), memory: expect.anything() },
              limits: { memory: expect.anything() },
            },
          }),
        ]);
    }
    for (const account of manifests.filter(({ kind }) => kind === 'ServiceAccount'))
      expect(account.automountServiceAccountToken).toBe(false);
  });

  it('keeps no secret', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});

describe('deploy/k8s/overlays/production', () => {
  const manifests = rendered.get('deploy/k8s/overlays/production') as Manifest[];

  it.each(services)('keeps two pods of %s or more, and lets one of them be evicted', (name) => {
    const { spec: scaling } = find(manifests, 'HorizontalPodAutoscaler', name);
    expect(scaling.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name });
    expect(scaling.minReplicas).toBeGreaterThanOrEqual(2);
    expect(scaling.maxReplicas).toBeGreaterThan(scaling.minReplicas);
    const { spec: budget } = find(manifests, 'PodDisruptionBudget', name);
    expect(budget).toEqual({ maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': name } } });
  });

  it('has clients come over TLS to the gateway alone', () => {
    const [{ spec }] = manifests.filter(({ kind }) => kind === 'Ingress') as [Manifest];
    const hosts = spec.rules.map(({ host }: Manifest) => host);
    expect(spec.tls.flatMap((tls: Manifest) => tls.hosts)).toEqual(hosts);
    expect(find(manifests, 'ConfigMap', 'almanac').data.ALMANAC_PUBLIC_URL).toBe(`https://${hosts[0]}`);
    const backends = spec.rules.flatMap(({ http }: Manifest) => http.paths.map(({ backend }: Manifest) => backend));
    expect(backends).toEqual([{ service: { name: 'gateway', port: { name: 'http' } } }]);
  });

  it('backs up what the operators’ command line would, and keeps it for that', () => {
    const [backup] = podOf(find(manifests, 'CronJob', 'backup')).containers;
    const operator = podOf(find(manifests, 'Deployment', 'operator'));
    const stores = (container: Manifest) =>
      container.env.filter(({ name }: Manifest) => /_DATABASE_URLS?$|_STORE_URL$/.test(name));
    expect(backup.env).toEqual(stores(operator.containers[0]));
    expect(backup.image).toBe(operator.containers[0].image);
    const volumes = [operator, podOf(find(manifests, 'CronJob', 'backup'))].map((pod) =>
      pod.volumes.find(({ name }: Manifest) => name === 'backups'),
    );
    expect(volumes).toEqual(Array(2).fill({ name: 'backups', persistentVolumeClaim: { claimName: 'backups' } }));
    expect(find(manifests, 'PersistentVolumeClaim', 'backups').spec.accessModes).toEqual(['ReadWriteOnce']);
  });

  it('lets every pod reach the servers outside that its settings name', () => {
    const reached = (name: string, secret: RegExp) =>
      workloadsOf(manifests)
        .filter((each) => containersOf(each).some(({ env }) => env?.some((one: Manifest) => secret.test(one.name))))
        .map((each) => templateOf(each).metadata.labels['app.kubernetes.io/name'])
        .filter((pod) => !selectedBy(find(manifests, 'NetworkPolicy', name)).includes(pod));
    expect(reached('to-postgresql', /_DATABASE_URL$/)).toEqual([]);
    expect(reached('to-s3', /_OBJECT_STORE_URL$/)).toEqual([]);
    expect(reached('to-rabbitmq', /_BUS_URL$/)).toEqual([]);
  });
});

describe('a copy of deploy/k8s/overlays/production', () => {
  it('has its host from ALMANAC_PUBLIC_URL', () => {
    const host: [string, string, string] = ['config.yaml', 'https://almanac.example.com', 'https://rows.acme.test'];
    const ingress = find(renderCopy([host]), 'Ingress', 'almanac').spec;
    expect([ingress.rules[0].host, ingress.tls[0].hosts]).toEqual(['rows.acme.test', ['rows.acme.test']]);
    const viaGateway = renderCopy([host, ['kustomization.yaml', 'components/ingress #', 'components/gateway-api #']]);
    expect(find(viaGateway, 'HTTPRoute', 'almanac').spec.hostnames).toEqual(['rows.acme.test']);
    expect(viaGateway.filter(({ kind }) => kind === 'Ingress')).toEqual([]);
    const [backend] = find(viaGateway, 'HTTPRoute', 'almanac').spec.rules[0].backendRefs;
    const [port] = find(viaGateway, 'Service', backend.name).spec.ports;
    expect([port.name, port.port]).toEqual(['http', backend.port]);
  });

  it('can name the very images, and a Secret for their registry', () => {
    const digest = `sha256:${'5'.repeat(64)}`;
    const manifests = renderCopy([
      ['kustomization.yaml', /almanac\/data, newTag: [\d.]+/, `almanac/data, digest: "${digest}"`],
      ['kustomization.yaml', '# - ../../components/pull-secret', '- ../../components/pull-secret'],
    ]);
    const images = containersOf(find(manifests, 'Deployment', 'data')).map(({ image }) => image);
    expect(images).toEqual(Array(2).fill(`registry.example.com/almanac/data@${digest}`));
    for (const each of workloadsOf(manifests)) {
      const account = find(manifests, 'ServiceAccount', podOf(each).serviceAccountName);
      expect([nameOf(each), account.imagePullSecrets]).toEqual([nameOf(each), [{ name: 'almanac-registry' }]]);
    }
  });

  it('has the Prometheus operator scrape every service where it tells metrics', () => {
    const manifests = renderCopy([['kustomization.yaml', '# - ../../../observability', '- ../../../observability']]);
    const scraped = manifests
      .filter(({ kind }) => kind === 'ServiceMonitor')
      .flatMap(({ spec: { selector, endpoints } }) =>
        manifests
          .filter(({ kind, metadata }) => kind === 'Service' && isSelected(selector, metadata.labels))
          .flatMap(({ spec }) =>
            spec.ports
              .filter(({ name }: Manifest) => name === endpoints[0].port)
              .map(({ port }: Manifest) => `${endpoints[0].scheme ?? 'http'} ${Object.values(spec.selector)}:${port}`),
          ),
      );
    expect(scraped.toSorted()).toEqual([
      'http gateway:9080',
      'https billing:8085',
      'https console:8086',
      'https data:8083',
      'https identity:8081',
      'https jobs:8084',
      'https metadata:8082',
    ]);
    const [rule] = manifests.filter(({ kind }) => kind === 'PrometheusRule') as [Manifest];
    expect(rule.spec.groups[0].rules.length).toBeGreaterThan(10);
    expect(JSON.parse(find(manifests, 'ConfigMap', 'almanac-dashboard').data['almanac.json'])).toHaveProperty('panels');
  });
});

const selectedBy = ({ spec: { podSelector } }: Manifest): string[] =>
  podSelector.matchLabels ? Object.values(podSelector.matchLabels) : podSelector.matchExpressions[0].values;

const isSelected = ({ matchLabels = {}, matchExpressions = [] }: Manifest, labels: Record<string, string>) =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, values }: Manifest) => values.includes(labels[key]));
