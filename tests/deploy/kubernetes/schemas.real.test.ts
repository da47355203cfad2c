// The manifests against the OpenAPI documents of the supported versions of Kubernetes.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import { customSchemas } from './custom-schemas.ts';
import { folders, type Manifest, nameOf, render, renderCopy } from './render.ts';

const versions = globSync('schemas/*.json', { cwd: import.meta.dirname }).toSorted();
const rendered = new Map(folders.map((folder) => [folder, render(folder)]));

const judges = versions.map((file) => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
  ajv.addSchema(JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')), 'kubernetes');
  const problemsOf = (manifest: Manifest): string[] => {
    const kind = `${manifest.apiVersion}/${manifest.kind}`;
    const others = customSchemas[kind];
    const validate = others
      ? ajv.compile(others)
      : ajv.getSchema(`kubernetes#/definitions/${kind.replaceAll('/', '~1')}`);
    if (!validate) return [`${nameOf(manifest)} is of a kind that has no schema`];
    validate(manifest);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${nameOf(manifest)}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  return [basename(file, '.json'), problemsOf] as const;
});

it('covers three versions and every folder', () => {
  expect(versions.length).toBeGreaterThanOrEqual(3);
  expect(folders).toEqual(
    expect.arrayContaining([
      ...['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'].map(
        (name) => `deploy/k8s/services/${name}`,
      ),
      'deploy/k8s/overlays/local',
      'deploy/k8s/overlays/production',
    ]),
  );
});

describe.each(judges)('Kubernetes %s', (_version, problemsOf) => {
  it.each(folders)('accepts %s', (folder) => {
    const manifests = rendered.get(folder) as Manifest[];
    expect(manifests.length).toBeGreaterThan(2);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
  });

  it('accepts a copy of the overlay production with the other components', () => {
    const manifests = renderCopy([
      ['kustomization.yaml', 'components/ingress #', 'components/gateway-api #'],
      ['kustomization.yaml', '# - ../../../observability', '- ../../../observability'],
      ['kustomization.yaml', '# - ../../components/pull-secret', '- ../../components/pull-secret'],
    ]);
    const kinds = manifests.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['HTTPRoute', 'ServiceMonitor', 'PrometheusRule']));
    expect(manifests.flatMap(problemsOf)).toEqual([]);
  });

  // Shows that the tests above can fail.
  it('refuses a field it does not know, a value of the wrong type, and a manifest without what it needs', () => {
    const [found] = (rendered.get('deploy/k8s/services/data') as Manifest[]).filter(
      ({ kind }) => kind === 'Deployment',
    );
    const changed = (change: (manifest: Manifest) => void) => {
      const manifest = structuredClone(found);
      change(manifest);
      return problemsOf(manifest).join('\n');
    };
    const pod = (manifest: Manifest) => manifest.spec.template.spec;
    expect(changed((it) => Object.assign(pod(it), { terminationGracePeriod: 3 }))).toMatch(/terminationGracePeriod"/);
    expect(changed((it) => Object.assign(pod(it).containers[0].ports[0], { containerPort: '8083' }))).toMatch(
      /must be number/,
    );
    expect(changed((it) => delete it.spec.selector)).toMatch(/required property 'selector'/);
  });
});
