// The third-party packages of the images with their licences, for docs/third-party-packages.md.
import { type Lock, type Locked, nameOf, runtimePlaces } from './lockfile.ts';

const commandLine = ['packages/admin-cli'] as const;

export const images = {
  gateway: ['services/gateway', ...commandLine],
  identity: ['services/identity', ...commandLine],
  metadata: ['services/metadata', ...commandLine],
  data: ['services/data', ...commandLine],
  jobs: ['services/jobs', ...commandLine],
  billing: ['services/billing', ...commandLine],
  console: ['services/console', ...commandLine],
  operator: [
    ...commandLine,
    // for backup and restore
    'services/jobs',
    'services/data',
    // for the demo data
    'node_modules/@almanac/api-client',
    'node_modules/currency-codes',
    'node_modules/iso-3166',
    'node_modules/iso-639-3',
  ],
} as const;

/** Permissive licences: they require attribution only. */
const accepted = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
];

/** Whether a licence, or one of its alternatives (`(MIT OR CC0-1.0)`), is accepted. */
export function isAccepted(licence: string): boolean {
  return licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => accepted.includes(choice));
}

/** Packages without a licence in the lockfile, as of their licence files. */
const stated: [RegExp, string][] = [[/^@duckdb\/node-bindings/, 'MIT']];

/** Names of licences from before SPDX. */
const olderNames: Record<string, string> = { 'MIT/X11': 'MIT' };

/** The licence of a locked package, as an SPDX expression. */
export function licenceOf(name: string, { license }: Locked): string {
  const said = license ?? stated.find(([pattern]) => pattern.test(name))?.[1] ?? 'unknown';
  return olderNames[said] ?? said;
}

export type Package = { name: string; version: string; licence: string; images: string[] };

/** All packages of all images, by name and version. */
export function listPackages(lock: Lock): Package[] {
  const found = new Map<string, Package>();
  for (const [image, given] of Object.entries(images)) {
    for (const place of runtimePlaces(lock, given)) {
      const locked = lock.packages[place] as Locked;
      const { version = '?' } = locked;
      const name = nameOf(place);
      const licence = licenceOf(name, locked);
      const entry = found.get(`${name} ${version}`) ?? { name, version, licence, images: [] };
      if (!entry.images.includes(image)) entry.images.push(image);
      found.set(`${name} ${version}`, entry);
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** The text of docs/third-party-packages.md. */
export function licencePage(lock: Lock): string {
  const count = Object.keys(images).length;
  const rows = listPackages(lock).map(
    ({ name, version, licence, images: where }) =>
      `| ${name} | ${version} | ${licence} | ${where.length === count ? 'all' : where.join(', ')} |`,
  );
  return [
    '# Packages of others in our images',
    '',
    'Made by `npm run licences` from `package-lock.json`; a test fails when it is out of date, or when a licence is new to us. Packages for other platforms are listed',
    'too. The texts of the licences lie beside the packages in each image (`/app/node_modules`), whose bill of materials is `/app/sbom.cdx.json`.',
    '',
    '| Package | Version | Licence | In |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
