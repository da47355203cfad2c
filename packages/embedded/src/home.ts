// The folder of an embedded system (.almanac, or ALMANAC_HOME): its paths, its lock, and the
// description of the running system.
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isRunning, startTimeOf } from './processes.ts';

export const root = resolve(import.meta.dirname, '../../..');

export type Home = {
  folder: string;
  postgres: string;
  objects: string;
  mail: string;
  logs: string;
  cache: string;
  secrets: string;
  credentials: string;
  runtime: string;
  lock: string;
};

/** The folder that the environment names. */
export function readHome(env: NodeJS.ProcessEnv): Home {
  const folder = resolve(root, env.ALMANAC_HOME || '.almanac');
  const inside = (name: string) => join(folder, name);
  return {
    folder,
    postgres: inside('postgres'),
    objects: inside('objects'),
    mail: inside('mail'),
    logs: inside('logs'),
    cache: inside('cache'),
    secrets: inside('secrets.json'),
    credentials: inside('credentials.json'),
    runtime: inside('runtime.json'),
    lock: inside('running.pid'),
  };
}

/**
 * Creates the folders. Secrets are readable by their owner only; the folder itself may be
 * traversed, since PostgreSQL may run as another user.
 */
export function makeHome(home: Home): void {
  for (const folder of [home.folder, home.logs, home.cache, home.objects]) makeFolder(folder);
}

// Not by `recursive`, with which Node retries for ever in /proc, where the parent seems missing.
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST')
      throw new Error(`The folder ${folder} can't be made (${code}). Choose another one with ALMANAC_HOME.`);
  }
}

export class AlreadyRunningError extends Error {
  readonly pid: number;

  constructor(pid: number, folder: string, url: string | undefined) {
    const where = url ? ` at ${url}` : '';
    super(
      `Almanac is already running${where} (process ${pid}, state in ${folder}).\n` +
        `Stop it with Ctrl-C in its terminal or with: kill ${pid}`,
    );
    this.pid = pid;
  }
}

/** Locks the folder for this process, also over the lock of an ended one. Returns the unlock. */
export function lockHome(home: Home): () => void {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const file = openSync(home.lock, 'wx', 0o600);
      writeSync(file, JSON.stringify({ pid: process.pid, started: startTimeOf(process.pid) }));
      return () => rmSync(home.lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(home.lock, 'written', error);
      const holder = readJson<{ pid: number; started?: string }>(home.lock);
      if (holder && isRunning(holder.pid, holder.started))
        throw new AlreadyRunningError(holder.pid, home.folder, readRuntime(home)?.base_url);
      rmSync(home.lock, { force: true });
    }
  }
  throw new Error(`${home.lock} is contended: another process keeps locking it.`);
}

/** The running system, for operators' commands and tests. It holds no secrets. */
export type Runtime = {
  pid: number;
  base_url: string;
  /** The addresses of the services. */
  http: Record<string, string>;
  rpc: Record<string, string>;
  /** The addresses of /metrics. */
  metrics: Record<string, string>;
  processes: Record<string, number>;
  /** The processes that are ready. */
  ready: string[];
  postgres_port: number;
};

export function readRuntime(home: Home): Runtime | undefined {
  return readJson<Runtime>(home.runtime);
}

/** Reads a JSON file; undefined when it is missing or incomplete. */
export function readJson<T>(path: string): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Reads a file; an error says what to do. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unusable(path, 'read', error);
  }
}

// Without access it is mostly a folder of another user: one `sudo npm start` is enough.
function unusable(path: string, how: 'read' | 'written', error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const advice: Record<string, string> = {
    ENOSPC: 'The disk is full: free some space.',
    EACCES: 'It belongs to another user: give this one access.',
    EPERM: 'It belongs to another user: give this one access.',
    EROFS: 'The disk is read-only.',
  };
  return new Error(`${path} can't be ${how} (${code ?? message}). ${advice[code ?? ''] ?? ''}`.trim());
}

/** Writes a JSON file atomically, readable by its owner only. */
export function writeJson(path: string, value: unknown): void {
  const fresh = `${path}.${process.pid}`;
  try {
    writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  } catch (error) {
    throw unusable(path, 'written', error);
  }
}
