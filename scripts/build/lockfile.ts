// Completes package-lock.json with the optional packages of other platforms. npm leaves out those it could not see on the
// machine that wrote the file, and then `npm ci` refuses the file elsewhere. `npm run lockfile` writes, `-- --check` only tells.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

type Entry = {
  version?: string;
  optional?: boolean;
  dev?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  link?: boolean;
  optionalDependencies?: Record<string, string>;
};
type Lockfile = { packages: Record<string, Entry> };

const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'aix',
  'win32',
  'windows',
  'win',
];
const processors = [
  'arm64',
  'arm',
  'armv7',
  'x64',
  'ia32',
  'ppc64',
  'ppc64le',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
];

/** What a platform package's name says about where it belongs, e.g. `core-linux-arm64-musl`. */
export function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const system = words.find((word) => systems.includes(word));
  const processor = words.find((word) => processors.includes(word));
  const platform: Pick<Entry, 'os' | 'cpu' | 'libc'> = {};
  if (processor) platform.cpu = [processor === 'armv7' ? 'arm' : processor];
  if (system) platform.os = [system.startsWith('win') ? 'win32' : system];
  if (words.some((word) => word.startsWith('musl'))) platform.libc = ['musl'];
  return platform;
}

/** The entries that are missing: every optional dependency of a locked package that no entry answers. */
export function missingEntries(lockfile: Lockfile): Record<string, Entry> {
  const missing: Record<string, Entry> = {};
  for (const [path, entry] of Object.entries(lockfile.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const found = placesOf(path, name).some((place) => lockfile.packages[place]);
      if (found || !/^\^?\d+\.\d+\.\d+\S*$/.test(range)) continue;
      const dev = entry.dev ? { dev: true } : {};
      missing[`node_modules/${name}`] = {
        version: range.replace('^', ''),
        ...platformOf(name),
        ...dev,
        optional: true,
      };
    }
  }
  return missing;
}

/** Where node would look for `name` from the package at `path`, innermost first. */
export function placesOf(path: string, name: string): string[] {
  const parts = path === '' ? [] : path.split('/node_modules/');
  const outer = parts.map((_part, i) => parts.slice(0, parts.length - i).join('/node_modules/'));
  return [...outer.map((place) => `${place}/node_modules/${name}`), `node_modules/${name}`];
}

if (import.meta.main) {
  const file = resolve(import.meta.dirname, '../../package-lock.json');
  const lockfile = JSON.parse(readFileSync(file, 'utf8')) as Lockfile;
  const missing = missingEntries(lockfile);
  const names = Object.keys(missing);
  if (process.argv.includes('--check')) {
    console.log(
      names.length === 0
        ? 'package-lock.json is complete'
        : `package-lock.json lacks:\n${names.join('\n')}\nRun: npm run lockfile`,
    );
    process.exitCode = names.length === 0 ? 0 : 1;
  } else {
    const all = { ...lockfile.packages, ...missing };
    const packages = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(file, `${JSON.stringify({ ...lockfile, packages }, null, 2)}\n`);
    console.log(`package-lock.json: ${names.length} platform packages added`);
  }
}
