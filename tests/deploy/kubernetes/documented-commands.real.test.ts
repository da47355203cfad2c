// The commands of docs/how-to/kubernetes.md name existing folders, workloads, containers and ports.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folders, type Manifest, render, root } from './render.ts';

const page = readFileSync(join(root, 'docs/how-to/kubernetes.md'), 'utf8');
const commands = [...page.matchAll(/kubectl (?:[^`\n|#]|\|(?! ))+/g)].map(([command]) => command.trim());
const manifests = render('deploy/k8s/overlays/local');
const find = (kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind.toLowerCase() === kind && manifest.metadata.name === name);

it('finds the commands', () => expect(commands.length).toBeGreaterThan(15));

it.each(commands.filter((command) => / -[kf] \S*\//.test(command)))('%s', (command) => {
  const [, option, path] = / -([kf]) (\S+)/.exec(command) as unknown as [string, string, string];
  if (option === 'k') expect(folders).toContain(path);
  else expect(existsSync(join(root, path))).toBe(true);
});

it.each(commands.filter((command) => /(deployment|service)\//.test(command)))('%s', (command) => {
  const [, kind, name] = /(deployment|service)\/(\w+)/.exec(command) as unknown as [string, string, string];
  const manifest = find(kind, name);
  expect(manifest).toBeDefined();
  const pod = manifest.spec.template?.spec;
  const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])].map((container) => container.name);
  const named = [...command.matchAll(/ -c (\w+)| (\w+)=registry/g)].map((match) => match[1] ?? match[2]);
  expect(containers).toEqual(expect.arrayContaining(named));
  const port = /port-forward \S+ (\d+)/.exec(command)?.[1];
  if (port) expect(manifest.spec.ports.map((own: Manifest) => own.port)).toContain(Number(port));
});

it('selects by the label all parts of one service, and nothing else', () => {
  const label = /-l (\S+)=(\w+)/.exec(page) as unknown as [string, string, string];
  const chosen = render('deploy/k8s/overlays/production').filter(
    ({ metadata }) => metadata.labels?.[label[1]] === label[2],
  );
  expect(chosen.map(({ kind }) => kind).toSorted()).toEqual([
    'Certificate',
    'Deployment',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'Service',
    'ServiceAccount',
  ]);
});
