// A PostgreSQL cluster in a folder: created completely or not at all, and the command that serves
// it.
import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Command, commandAs, findPrograms, findServerUser } from './programs.ts';

const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** The cluster could not be made; the message is the output of PostgreSQL's program. */
export class ClusterError extends Error {}

type NewCluster = { folder: string; superuser: string; password: string };

/**
 * Creates the cluster beside its folder, then moves it there, so an interrupted start leaves no
 * part.
 */
export async function makeCluster({ folder, superuser, password }: NewCluster): Promise<void> {
  const { initdb } = findPrograms();
  const user = findServerUser();
  const parent = dirname(folder);
  const prefix = `${basename(folder)}.new`;
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent))
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true });
  const fresh = join(parent, `${prefix}-${process.pid}`);
  const passwordFile = join(parent, `${prefix}-password-${process.pid}`);
  try {
    mkdirSync(fresh, { mode: 0o700 });
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user) for (const path of [fresh, passwordFile]) chownSync(path, user.uid, user.gid);
    const access = [`--username=${superuser}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    const { command, args, ...as } = commandAs(user, initdb, ['-D', fresh, ...access, ...locale], [initdb, fresh]);
    await promisify(execFile)(command, args, { ...as, env: { ...process.env, LC_ALL: 'C' } });
    renameSync(fresh, folder);
  } catch (cause) {
    throw new ClusterError((cause as { stderr?: string }).stderr || (cause as Error).message);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** The command that serves the cluster on 127.0.0.1. */
export function serverCommand(folder: string, port: number, settings: Record<string, string>): Command {
  const { postgres } = findPrograms();
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return commandAs(findServerUser(), postgres, ['-D', folder, '-p', String(port), ...flags], [postgres, folder]);
}
