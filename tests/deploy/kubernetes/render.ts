// The manifests that `kubectl apply -k` would send for a folder of deploy/k8s. Needs a kubectl:
// KUBECTL, or the one on the PATH.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const root = resolve(import.meta.dirname, '../../..');

// biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds; schemas.test.ts holds their shape
export type Manifest = { apiVersion: string; kind: string; metadata: { name: string; [name: string]: any } } & any;

/**
 * Every folder that can be applied, such as `deploy/k8s/services/data`. Components can't: they are
 * parts of others.
 */
export const folders = globSync('deploy/k8s/**/kustomization.yaml', { cwd: root })
  .filter((file) => /^kind: Kustomization$/m.test(readFileSync(join(root, file), 'utf8')))
  .map((file) => dirname(file))
  .toSorted();

/** The manifests of a folder of this repository, or elsewhere by its whole path. */
export function render(folder: string): Manifest[] {
  const text = execFileSync(process.env.KUBECTL ?? 'kubectl', ['kustomize', resolve(root, folder)], {
    encoding: 'utf8',
  });
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

/** The manifests of a copy of the overlay `production` with changed texts in its files. */
export function renderCopy(changes: [file: string, from: string | RegExp, to: string][]): Manifest[] {
  const copy = mkdtempSync(join(tmpdir(), 'almanac-overlay-'));
  try {
    const overlay = join(root, 'deploy/k8s/overlays/production');
    cpSync(overlay, copy, { recursive: true });
    const change = (file: string, to: (text: string) => string) => {
      const before = readFileSync(join(copy, file), 'utf8');
      const after = to(before);
      if (after === before) throw new Error(`A change of ${file} has no effect.`);
      writeFileSync(join(copy, file), after);
    };
    for (const [file, from, to] of changes) change(file, (text) => text.replace(from, to));
    change('kustomization.yaml', (text) =>
      text.replaceAll(/(?:\.\.\/){2,3}[\w/-]+/g, (path) => relative(copy, join(overlay, path))),
    );
    return render(copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** The pod template of a workload. */
export const templateOf = ({ spec }: Manifest): Manifest => spec.jobTemplate?.spec.template ?? spec.template;

/** `kind/name`, for messages. */
export const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
