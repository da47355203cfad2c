// Releases of single services (docs/how-to/release.md):
//   npm run release -- check                       what of the last releases this code breaks
//   npm run release -- version                     takes the changesets: new versions and changelogs
//   npm run release -- record COMMIT SERVICE…      keeps what the next code is compared with
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { serviceNames } from '@almanac/service-kit/config/config';
import { findBreaks } from './release/breaking.ts';
import { recordOf, recordRelease, root, type ServiceName, versionOf } from './release/records.ts';

const [command, ...words] = process.argv.slice(2);
if (command === 'check' && words.length === 0) check();
else if (command === 'version' && words.length === 0) version();
else if (command === 'record' && words.length > 1) record(words[0] as string, words.slice(1));
else fail('Usage: npm run release -- check, or version, or record COMMIT SERVICE…');

function check(): void {
  const breaks = serviceNames.flatMap(findBreaks);
  if (breaks.length > 0) fail(`Beside the last release this would break:\n  ${breaks.join('\n  ')}`);
  else console.log(`What the last releases of ${serviceNames.join(', ')} promised holds.`);
}

function version(): void {
  const manifest = createRequire(import.meta.url).resolve('@changesets/cli/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const program = join(dirname(manifest), bin.changeset as string);
  const { status } = spawnSync(process.execPath, [program, 'version'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = status ?? 1;
    return;
  }
  // The lockfile repeats the versions of workspaces.
  const lock = join(root, 'package-lock.json');
  const locked = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { version?: string }> };
  for (const name of serviceNames) {
    const entry = locked.packages[`services/${name}`];
    if (entry) entry.version = versionOf(name);
  }
  writeFileSync(lock, `${JSON.stringify(locked, null, 2)}\n`);
}

function record(commit: string, names: string[]): void {
  const unknown = names.filter((name) => !(serviceNames as readonly string[]).includes(name));
  if (unknown.length > 0) fail(`There is no service ${unknown.join(', ')}.`);
  else
    for (const name of names as ServiceName[]) {
      const { version } = recordRelease(name, commit);
      rmSync(recordOf(name, 'accepted.txt'), { force: true }); // it was about the release before
      console.log(`${name} ${version}`);
    }
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
