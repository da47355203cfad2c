import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames } from '@almanac/service-kit/config/config';
import { readReleases, root, versionOf } from './records.ts';

const changesets = globSync('.changeset/*.md', { cwd: root }).map((path) => [path] as const);
const packages = serviceNames.map((name) => `@almanac/${name}`);

describe('changesets', () => {
  it.each(changesets)('%s names services, and says what their users notice', (path) => {
    const [, head = '', text = ''] =
      /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(join(root, path), 'utf8')) ?? [];
    const named = head.split('\n').map((line) => /^"(.+)": (patch|minor|major)$/.exec(line)?.[1]);
    expect(packages).toEqual(expect.arrayContaining(named));
    expect(text.trim()).not.toBe('');
  });
});

const released = serviceNames.filter((name) => versionOf(name) !== '0.0.0');

describe.each(released.map((name) => [name]))('releases of %s', (name) => {
  it('are in its changelog, the last one first', () => {
    const text = readFileSync(join(root, 'services', name, 'CHANGELOG.md'), 'utf8');
    expect(/^## (.+)$/m.exec(text)?.[1]).toBe(versionOf(name));
  });

  it('are recorded, the last one as a commit', () => {
    expect(readReleases()[name]).toEqual({
      version: expect.any(String),
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });
});
