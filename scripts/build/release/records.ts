// The records of the last release of each service (releases/): version and commit, gRPC contract,
// part of the HTTP contract, and names of migrations. They are files, so that a clone without
// history can be checked.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { serviceNames } from '@almanac/service-kit/config/config';
import { type ApiDocument, asLines, readPromises } from './http-contract.ts';

export const root = resolve(import.meta.dirname, '../../..');
export type ServiceName = (typeof serviceNames)[number];

export type Release = { version: string; commit: string };

const releasesFile = join(root, 'releases/services.json');

export const readReleases = (): Partial<Record<ServiceName, Release>> =>
  JSON.parse(readFileSync(releasesFile, 'utf8')) as Partial<Record<ServiceName, Release>>;

/** The version in a service's package.json. */
export const versionOf = (service: string): string =>
  (JSON.parse(readFileSync(join(root, 'services', service, 'package.json'), 'utf8')) as { version: string }).version;

/**
 * A file of a service's record; undefined when missing (the gateway has none of them).
 */
export function readRecord(
  service: ServiceName,
  name: 'protos.json' | 'http.txt' | 'migrations.txt',
): string | undefined {
  const path = recordOf(service, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

export const recordOf = (service: ServiceName, name: string) => join(root, 'releases', service, name);

/** Records the release of a service at a commit. */
export function recordRelease(service: ServiceName, commit: string): Release {
  const manifest = JSON.parse(git('show', `${commit}:services/${service}/package.json`)) as { version: string };
  const release = { version: manifest.version, commit: git('rev-parse', `${commit}^{commit}`).trim() };
  const document = JSON.parse(git('show', `${commit}:docs/openapi.json`)) as ApiDocument;
  const migrations = git('ls-tree', '--name-only', `${commit}:services/${service}`, 'prisma/migrations/')
    .split('\n')
    .flatMap((path) => /\/(\d+_\w+)$/.exec(path)?.[1] ?? []);
  write(recordOf(service, 'http.txt'), asLines(readPromises(document, service)));
  write(recordOf(service, 'migrations.txt'), migrations.map((name) => `${name}\n`).join(''));
  if (git('ls-tree', '--name-only', commit, `protos/almanac/${service}/`) !== '') recordProtos(release.commit, service);
  writeFileSync(releasesFile, `${JSON.stringify({ ...readReleases(), [service]: release }, null, 2)}\n`);
  return release;
}

/** Writes a file with its folder; of nothing, none. */
function write(path: string, text: string): void {
  if (text === '') return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function recordProtos(commit: string, service: ServiceName): void {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-protos-'));
  try {
    const tar = join(folder, 'protos.tar');
    git('archive', '--output', tar, commit, 'protos');
    execFileSync('tar', ['-xf', tar], { cwd: folder });
    const words = [
      'build',
      '--path',
      `almanac/${service}`,
      '--exclude-source-info',
      '-o',
      recordOf(service, 'protos.json'),
    ];
    execFileSync(process.execPath, [buf, ...words], { cwd: join(folder, 'protos') });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of buf. */
export const buf = join(dirname(createRequire(import.meta.url).resolve('@bufbuild/buf/package.json')), 'bin/buf');

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
