// Brings up the whole embedded system for a test run, in a folder of its own on free ports, and speaks its operators' CLI.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess } from '../processes/end-process.ts';
import { watchValue } from '../secrets/secret-watch.ts';
import { keepLogs, runWatcher } from '../secrets/test-run.ts';

const root = resolve(import.meta.dirname, '../../../..');

/** Names the folder of the system under test, when it was started here. */
export const systemHomeName = 'ALMANAC_TEST_SYSTEM_HOME';

export type RunningSystem = {
  baseUrl: string;
  home: string;
  pid: number;
  /** What it has printed so far. */
  output(): string;
  /** Asks it to stop and waits; its folder goes too unless `keep` is set. Answers the exit code. */
  stop(options?: { keep?: boolean }): Promise<number | null>;
  /** Ends the supervisor without asking. */
  kill(): Promise<void>;
};

type StartOptions = {
  /** A folder that is kept for another start; a temporary one when left out. */
  home?: string;
  demo?: boolean;
  /** On the bus and the object store that the environment names; only one system at a time may use them. */
  onRealServers?: boolean;
  env?: Record<string, string | undefined>;
};

const readyWithinMs = 180_000;
const commandWithinMs = 120_000;
const lastWordsMs = 2_000;

/** Starts `npm start`'s program and waits until it says that it is ready. */
export async function startSystem(options: StartOptions = {}): Promise<RunningSystem> {
  const { home, demo = false, onRealServers = false, env = {} } = options;
  const servers = onRealServers ? {} : { ALMANAC_BUS_URL: undefined, JOBS_OBJECT_STORE_URL: undefined };
  const mail = { JOBS_SMTP_URL: undefined }; // into its folder, where tests find them
  const folder = home ?? mkdtempSync(join(tmpdir(), 'almanac-system-'));
  const words = ['--disable-warning=ExperimentalWarning', 'scripts/dev/start.ts', ...(demo ? [] : ['--no-demo'])];
  const child = spawn(process.execPath, words, {
    cwd: root,
    // At the finest level, so that whatever a service could log is looked through for secrets.
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ALMANAC_LOG_LEVEL: 'trace',
      ALMANAC_LOOP_DELAY_MS: '60000', // a busy machine is no gateway that has too much to do
      NODE_ENV: 'test',
      IDENTITY_PASSWORD_MEMORY_KIB: '8', // tests log in often
      PORT: '0',
      ALMANAC_HOME: folder,
      ...servers,
      ...mail,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  try {
    const baseUrl = await ready(child, () => output);
    return {
      baseUrl,
      home: folder,
      pid: child.pid as number,
      output: () => output,
      stop: async ({ keep = false } = {}) => {
        const code = await end(child, 'SIGTERM');
        keepLogs(folder, output);
        if (!keep) rmSync(folder, { recursive: true, force: true });
        return code;
      },
      kill: async () => {
        await end(child, 'SIGKILL');
        keepLogs(folder, output);
      },
    };
  } catch (error) {
    await end(child, 'SIGTERM');
    keepLogs(folder, output);
    if (!home) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function ready(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`The system was not ready in time:\n${output()}`)), readyWithinMs);
    child.once('close', (code) => {
      clearTimeout(timer);
      fail(new Error(`The system did not start (code ${code}):\n${output()}`));
    });
    child.on('message', (message) => {
      if (typeof message !== 'object' || message === null || !('base_url' in message)) return;
      clearTimeout(timer);
      done(String(message.base_url));
    });
  });
}

// What it wrote last comes after its end; a process that it left behind may hold its output open.
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const closed = new Promise((done) => child.once('close', done));
  const isGone = child.exitCode !== null || child.signalCode !== null;
  const code = await endProcess(child, signal);
  if (!isGone) await Promise.race([closed, sleep(lastWordsMs, undefined, { ref: false })]);
  return code;
}

type Runtime = { processes: Record<string, number>; ready: string[] };

const readRuntime = (home: string) => JSON.parse(readFileSync(join(home, 'runtime.json'), 'utf8')) as Runtime;

/** The processes of an embedded system by name, as its supervisor tells them now. */
export function readProcesses(home: string): Record<string, number> {
  return readRuntime(home).processes;
}

/** Those of its processes that are up to their work now. */
export function readReady(home: string): string[] {
  return readRuntime(home).ready;
}

/** Where the system under test keeps its state; throws when it runs elsewhere. */
export function systemHome(): string {
  const home = process.env[systemHomeName];
  if (!home) throw new Error('The system under test was not started here, so its processes are out of reach.');
  return home;
}

/** A system whose processes and folders are within reach. */
export type LocalSystem = { home: string; stop(): Promise<void> };

/**
 * The system under test, when it was started here; else one of its own, which the rest of this test file then tests: what breaks
 * processes or looks into databases can't do it to one that runs elsewhere.
 */
export async function givenLocalSystem(): Promise<LocalSystem> {
  const home = process.env[systemHomeName];
  if (home) return { home, stop: async () => {} };
  const started = await startSystem();
  process.env.ALMANAC_BASE_URL = started.baseUrl;
  process.env[systemHomeName] = started.home;
  return {
    home: started.home,
    stop: async () => {
      await started.stop();
    },
  };
}

export type CommandResult = { code: number; stdout: string; stderr: string };

/** Runs an operators' command against the system under test (or the one in `home`); `input` is what it reads from standard input. */
export function runAdmin(words: string[], home = process.env[systemHomeName], input = ''): Promise<CommandResult> {
  const env = { ...process.env, NODE_OPTIONS: '', ...(home ? { ALMANAC_HOME: home } : {}) };
  const args = ['--disable-warning=ExperimentalWarning', 'packages/admin-cli/src/main.ts', ...words];
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: root, env, timeout: commandWithinMs },
      (_error, stdout, stderr) => {
        done({ code: child.exitCode ?? 1, stdout, stderr });
      },
    );
    child.stdin?.on('error', () => {}); // most commands read nothing
    child.stdin?.end(input);
  });
}

/** Runs an operators' command that has to succeed, and reads its JSON answer. */
export async function admin<T>(words: string[], home?: string): Promise<T> {
  const { code, stdout, stderr } = await runAdmin([...words, '--json'], home);
  if (code !== 0) throw new Error(`admin ${words.join(' ')} ended with ${code}: ${stderr}`);
  const answer = JSON.parse(stdout) as T;
  watchValue(answer, runWatcher);
  return answer;
}
