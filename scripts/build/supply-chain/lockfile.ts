// The lockfile as a graph: which packages of others an image of a service holds.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { placesOf } from '../lockfile.ts';

const root = resolve(import.meta.dirname, '../../..');

export type Locked = {
  version?: string;
  resolved?: string;
  integrity?: string;
  license?: string;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};
export type Lock = { packages: Record<string, Locked> };

/** The repository's lockfile. */
export function readLock(): Lock {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
}

/** The name of the package at a place of the lockfile (`node_modules/a/node_modules/@b/c`: `@b/c`). */
export const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Places of these packages and of all that they run with, ours among them, without those for development. For whatever platform. */
export function reachablePlaces({ packages }: Lock, given: readonly string[]): string[] {
  const seen = new Set<string>();
  const visit = (place: string) => {
    const entry = packages[place];
    if (!entry || seen.has(place)) return;
    seen.add(place);
    if (entry.link) {
      visit(entry.resolved as string);
      return;
    }
    for (const name of namesOf(entry)) {
      const found = placesOf(place, name).find((candidate) => packages[candidate]);
      if (found) visit(found);
    }
  };
  for (const place of given) visit(place);
  return [...seen].toSorted();
}

/** Those of them that come from others. */
export function runtimePlaces(lock: Lock, given: readonly string[]): string[] {
  const isOthers = (place: string) => place.includes('node_modules/') && !lock.packages[place]?.link;
  return reachablePlaces(lock, given).filter(isOthers);
}

function namesOf(entry: Locked): string[] {
  const peers = Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => !entry.peerDependenciesMeta?.[name]?.optional,
  );
  return [...Object.keys(entry.dependencies ?? {}), ...Object.keys(entry.optionalDependencies ?? {}), ...peers];
}
