// Starts an embedded system in a new folder on free ports, and runs operators' commands against it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess } from '../processes/end-process.ts';
import { watchValue } from '../secrets/secret-watch.ts';
import { keepLogs, runWatcher } from '../secrets/test-run.ts';

const root = resolve(import.meta.dirname, '../../../..');

/** The variable with the folder of the system under test, if it runs on this machine. */
export const systemHomeName = 'ALMANAC_TEST_SYSTEM_HOME';

export type RunningSystem = {
  baseUrl: string;
  home: string;
  pid: number;
  /** Its output so far. */
  output(): string;
  /** Stops it and deletes its folder, unless `keep` is set. Answers the exit code. */
  stop(options?: { keep?: boolean }): Promise<number | null>;
  /** Kills the supervisor. */
  kill(): Promise<void>;
};

type StartOptions = {
  /** The folder to start in; undefined: a new temporary one. */
  home?: string;
  demo?: boolean;
  /**
   * Uses the bus and the object store of the environment, which only one system may use at a time.
   */
  onRealServers?: boolean;
  env?: Record<string, string | undefined>;
};

const readyWithinMs = 180_000;
const commandWithinMs = 120_000;
const outputDrainMs = 2_000;

/** Starts the program of `npm start` and waits until it reports that it is ready. */
export async function startSystem(options: StartOptions = {}): Promise<RunningSystem> {
  const { home, demo = false, onRealServers = false, env = {} } = options;
  const servers = onRealServers ? {} : { ALMANAC_BUS_URL: undefined, JOBS_OBJECT_STORE_URL: undefined };
  const mail = { JOBS_SMTP_URL: undefined }; // mails go to its folder, where tests read them
  const folder = home ?? mkdtempSync(join(tmpdir(), 'almanac-system-'));
  const words = ['--disable-warning=ExperimentalWarning', 'scripts/dev/start.js', ...(demo ? [] : ['--no-demo'])];
  const child = spawn(process.execPath, words, {
    cwd: root,
    // At the finest level, so that everything a service could log is searched for secrets.
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ALMANAC_LOG_LEVEL: 'trace',
      ALMANAC_LOOP_DELAY_MS: '60000', // a busy machine must not cause load shedding
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
    const baseUrl = await untilReady(child, () => output);
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

function untilReady(child: ChildProcess, output: () => string): Promise<string> {
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

// Output may arrive after the exit; a process that it left running may hold the output open.
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const closed = new Promise((done) => child.once('close', done));
  const hadEnded = child.exitCode !== null || child.signalCode !== null;
  const code = await endProcess(child, signal);
  if (!hadEnded) await Promise.race([closed, sleep(outputDrainMs, undefined, { ref: false })]);
  return code;
}

type Runtime = { processes: Record<string, number>; ready: string[] };

const readRuntime = (home: string) => JSON.parse(readFileSync(join(home, 'runtime.json'), 'utf8')) as Runtime;

/** The pids of an embedded system's processes by name, as its supervisor reports them now. */
export function readProcesses(home: string): Record<string, number> {
  return readRuntime(home).processes;
}

/** The names of its processes that are ready now. */
export function readReady(home: string): string[] {
  return readRuntime(home).ready;
}

/** The folder of the system under test; throws when it runs elsewhere. */
export function systemHome(): string {
  const home = process.env[systemHomeName];
  if (!home) throw new Error('The system under test runs elsewhere: its processes and folder are out of reach.');
  return home;
}

/** A system on this machine, with its processes and folder. */
export type LocalSystem = { home: string; stop(): Promise<void> };

/**
 * The system under test, if it runs on this machine; otherwise a new one, which the rest of the
 * test file then uses. For tests that kill processes or read databases.
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

/**
 * Runs an operators' command against the system under test, or the one in `home`, with `input` as
 * its standard input.
 */
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

/** Runs an operators' command that has to succeed; answers its JSON output. */
export async function admin<T>(words: string[], home?: string): Promise<T> {
  const { code, stdout, stderr } = await runAdmin([...words, '--json'], home);
  if (code !== 0) throw new Error(`admin ${words.join(' ')} ended with ${code}: ${stderr}`);
  const answer = JSON.parse(stdout) as T;
  watchValue(answer, runWatcher);
  return answer;
}
