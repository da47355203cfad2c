// A folder of files as Kubernetes mounts a Secret: one link is swapped, and all files change at
// once while services read them.
import { mkdirSync, mkdtempSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type MountedFiles = {
  path(name: string): string;
  /** Replaces all files at once. */
  replace(files: Record<string, string>): void;
  remove(): void;
};

/** Makes such a folder with these files. */
export function mountFiles(files: Record<string, string>): MountedFiles {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-mounted-'));
  const current = join(folder, '..data');
  let versions = 0;
  const write = (contents: Record<string, string>): string => {
    const version = `..version-${++versions}`;
    mkdirSync(join(folder, version));
    for (const [name, text] of Object.entries(contents))
      writeFileSync(join(folder, version, name), text, { mode: 0o600 });
    return version;
  };
  symlinkSync(write(files), current);
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name));
  return {
    path: (name) => join(folder, name),
    replace: (contents) => {
      const before = readlinkSync(current);
      symlinkSync(write(contents), `${current}_tmp`);
      renameSync(`${current}_tmp`, current);
      rmSync(join(folder, before), { recursive: true });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
