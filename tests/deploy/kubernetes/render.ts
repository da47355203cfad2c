// The manifests that `kubectl apply -k` would send for a folder of deploy/k8s. Needs a kubectl:
// KUBECTL, or the one on the PATH.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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

/** The manifests of a folder. */
export function render(folder: string): Manifest[] {
  const text = execFileSync(process.env.KUBECTL ?? 'kubectl', ['kustomize', join(root, folder)], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

/** `kind/name`, for messages. */
export const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
