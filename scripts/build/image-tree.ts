// `node scripts/build/image-tree.ts IMAGE FOLDER`: copies what an image has of a whole installation
// into a new folder, with its bill of materials. npm omits only packages that no workspace needs,
// and would keep those of tests. For deploy/Dockerfile: to copy the few files that stay takes less
// time than to remove the many that don't.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { billOfMaterials } from './supply-chain/bill-of-materials.ts';
import { images } from './supply-chain/licences.ts';
import { reachablePlaces, readLock } from './supply-chain/lockfile.ts';

const root = resolve(import.meta.dirname, '../..');
const [image = '', folder = ''] = process.argv.slice(2);
if (!(image in images) || folder === '') {
  console.error(`Usage: image-tree.ts IMAGE FOLDER; images: ${Object.keys(images).join(', ')}.`);
  process.exit(2);
}
const name = image as keyof typeof images;
const lock = readLock();
const kept = new Set(reachablePlaces(lock, images[name]));
/** Folders of building alone. */
const left = ['scripts', 'docs'];
const ofTypes = /\.(map|d\.ts|d\.mts|d\.cts)$/;

function isInImage(source: string): boolean {
  const place = relative(root, source);
  if (place in lock.packages && place !== '') return kept.has(place);
  const isOfBuilding = left.includes(place) || place.endsWith('node_modules/.bin');
  const isOfNpm = place === 'node_modules/.package-lock.json';
  return !isOfBuilding && !isOfNpm && !(place.includes('node_modules/') && ofTypes.test(place));
}

cpSync(root, folder, { recursive: true, verbatimSymlinks: true, filter: isInImage });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
writeFileSync(join(folder, 'sbom.cdx.json'), JSON.stringify(billOfMaterials(lock, name, version), null, 2));
