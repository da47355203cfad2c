// `node scripts/build/prune-image.ts IMAGE`: leaves, of a whole installation, what the image runs with, and writes its bill of materials. npm
// itself omits only what no workspace at all runs with, so tools of tests would stay. For deploy/Dockerfile: it deletes sources.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { billOfMaterials } from './supply-chain/bill-of-materials.ts';
import { images } from './supply-chain/licences.ts';
import { reachablePlaces, readLock } from './supply-chain/lockfile.ts';

const root = resolve(import.meta.dirname, '../..');
const [image = ''] = process.argv.slice(2);
if (!(image in images) || process.env.ALMANAC_IMAGE_BUILD !== 'true') {
  console.error(`For image builds only (ALMANAC_IMAGE_BUILD=true): ${Object.keys(images).join(', ')}.`);
  process.exit(2);
}
const name = image as keyof typeof images;
const lock = readLock();
const kept = new Set(reachablePlaces(lock, images[name]));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
writeFileSync(join(root, 'sbom.cdx.json'), JSON.stringify(billOfMaterials(lock, name, version), null, 2));
for (const place of Object.keys(lock.packages))
  if (place !== '' && !kept.has(place)) rmSync(join(root, place), { recursive: true, force: true });
for (const left of ['node_modules/.bin', 'node_modules/.package-lock.json'])
  rmSync(join(root, left), { recursive: true, force: true });
