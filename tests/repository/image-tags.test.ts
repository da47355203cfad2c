import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { serviceNames } from '@almanac/service-kit/config/config';
import { versionOf } from '../../scripts/build/release/records.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'almanac-images-'));
const log = join(folder, 'log');
// A fake docker: it writes down its arguments, and prints a size.
const docker = join(folder, 'docker');

beforeAll(() => writeFileSync(docker, `#!/bin/sh\necho "$@" >> '${log}'\necho 1000000\n`, { mode: 0o755 }));
afterEach(() => rmSync(log, { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function tagsBy(env: Record<string, string>, ...names: string[]): string[] {
  execFileSync('bash', ['deploy/images.sh', ...names], {
    cwd: root,
    env: { PATH: process.env.PATH, DOCKER: docker, ...env },
  });
  return [...readFileSync(log, 'utf8').matchAll(/--tag (\S+)/g)].map(([, tag]) => tag as string);
}

describe('deploy/images.sh', () => {
  it('tags the image of each service with the version of its package, and as the latest', () => {
    const tags = tagsBy({}, ...serviceNames);
    expect(tags).toEqual(
      serviceNames.flatMap((name) => [`almanac/${name}:${versionOf(name)}`, `almanac/${name}:latest`]),
    );
  });

  it('takes another tag and other names', () => {
    expect(tagsBy({ TAG: 'trial', PREFIX: 'registry.example.com/' }, 'data')).toEqual([
      'registry.example.com/data:trial',
    ]);
  });
});
