// The bill of materials of an image, in CycloneDX 1.5: the packages of others that it holds, with checksums and licences.
import { images, licenceOf } from './licences.ts';
import { type Lock, nameOf, runtimePlaces } from './lockfile.ts';

/** Made from the lockfile, so the same for the same release. Packages for other platforms are listed too. */
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

// `sha512-<base64>`, of npm's; in CycloneDX the name has another form and the bytes are hexadecimal.
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split(' ')[0]?.split(/-(.*)/s) ?? [];
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}
