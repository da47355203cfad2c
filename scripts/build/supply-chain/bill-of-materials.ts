// The bill of materials of an image in CycloneDX 1.5: its third-party packages with checksums and
// licences.
import { images, licenceOf } from './licences.ts';
import { type Lock, nameOf, runtimePlaces } from './lockfile.ts';

/** Made from the lockfile, so it is reproducible. Packages for other platforms are listed too. */
export function billOfMaterials(lock: Lock, image: keyof typeof images, version: string) {
  const components = runtimePlaces(lock, images[image]).map((place) => {
    const entry = lock.packages[place] as Lock['packages'][string];
    const name = nameOf(place);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`;
    return {
      type: 'library',
      name,
      version: entry.version,
      purl,
      'bom-ref': `${purl}#${place}`,
      licenses: [{ expression: licenceOf(name, entry) }],
      ...(entry.integrity ? { hashes: [hashOf(entry.integrity)] } : {}),
    };
  });
  const component = { type: 'container', name: `almanac/${image}`, version, licenses: [{ expression: 'Apache-2.0' }] };
  return { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components };
}

// npm's `sha512-<base64>` in CycloneDX' form: another name, and hexadecimal bytes.
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split(' ')[0]?.split(/-(.*)/s) ?? [];
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}
