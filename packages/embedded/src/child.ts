// One process of the embedded system, kept alive: started, logged into its file, started again with growing pauses when it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { isRunning, signal, waitUntil } from './processes.ts';

export type ChildOptions = {
  name: string;
  file: string;
  args?: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  logFile: string;
  /** Told the first words of trouble: an end that wasn't asked for, an error in the log. */
  onProblem(name: string, message: string): void;
  /** The process ids changed. */
  onChange(): void;
  /** Ready when the process says so by IPC, unless this says it otherwise. */
  isReady?(): Promise<boolean>;
  /** Runs before a new start after an unexpected end. */
  beforeRestart?(): Promise<void>;
};

const shortestPauseMs = 200;
// Who has to wait for a process that was killed again and again waits no longer than it takes to start.
const longestPauseMs = 2_000;
const steadyAfterMs = 10_000;
const logKeptBytes = 20 * 1024 * 1024;
const givesUpAfter = 4; // ends in a row before the first "ready"

export class Child {
  readonly name: string;
  ready = false;
  /** The server behind a guard, when there is one. */
  serverPid: number | undefined;
  private readonly options: ChildOptions;
  /** Written by the process itself, so that it can tell its end even when the supervisor was killed. */
  private readonly log: number;
  private process: ChildProcess | undefined;
  private stopping = false;
  private failures = 0;
  private wasEverReady = false;
  private timer: NodeJS.Timeout | undefined;
  private giveUp: ((error: Error) => void) | undefined;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.options = options;
    rotate(options.logFile);
    this.log = openSync(options.logFile, 'a', 0o600);
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** Starts it and waits until it is ready; throws with the end of its log when it keeps ending before that. */
  start(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        this.giveUp = undefined;
        reject(new Error(`${this.name} was not ready after ${timeoutMs / 1000} s.\n${this.lastWords()}`));
      }, timeoutMs);
      this.giveUp = (error) => {
        clearTimeout(deadline);
        reject(error);
      };
      this.onReady = () => {
        clearTimeout(deadline);
        resolve();
      };
      this.spawn();
    });
  }

  private onReady: () => void = () => {};

  private spawn(): void {
    const { file, args = [], cwd, env, isReady } = this.options;
    const startedAt = performance.now();
    // A group of its own: Ctrl-C in the terminal reaches the supervisor alone, which then stops everything in order.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
      cwd,
      env,
      stdio: ['ignore', this.log, this.log, 'ipc'],
      detached: process.platform !== 'win32',
    });
    this.process = child;
    child.on('message', (message) => {
      if (message === 'ready') this.markReady(child);
      else if (typeof message === 'object' && message && 'serverPid' in message) {
        this.serverPid = Number(message.serverPid);
        this.options.onChange();
      }
    });
    child.on('error', (error) => writeSync(this.log, `${error.message}\n`));
    child.once('exit', (code, signalName) => this.ended(child, startedAt, signalName ?? `code ${code}`));
    this.options.onChange();
    if (isReady)
      void waitUntil(async () => this.process !== child || (await isReady()), 60_000).then((isUp) => {
        if (isUp) this.markReady(child);
      });
  }

  private markReady(child: ChildProcess): void {
    if (this.process !== child || this.ready) return;
    this.ready = true;
    if (this.wasEverReady) this.options.onProblem(this.name, 'is back');
    this.wasEverReady = true;
    this.giveUp = undefined;
    this.options.onChange();
    this.onReady();
  }

  private ended(child: ChildProcess, startedAt: number, how: string): void {
    if (this.process !== child) return;
    this.process = undefined;
    this.ready = false;
    this.options.onChange();
    if (this.stopping) return;
    this.failures = performance.now() - startedAt > steadyAfterMs ? 1 : this.failures + 1;
    if (this.giveUp && this.failures >= givesUpAfter) {
      this.stopping = true;
      this.giveUp(new Error(`${this.name} does not start (${how}).\n${this.lastWords()}`));
      return;
    }
    const pause = Math.min(longestPauseMs, shortestPauseMs * 2 ** (this.failures - 1));
    if (this.wasEverReady) this.options.onProblem(this.name, `ended (${how}); starting it again`);
    this.timer = setTimeout(() => {
      const before = this.options.beforeRestart?.() ?? Promise.resolve();
      before.then(
        () => this.stopping || this.spawn(),
        (error: Error) => this.options.onProblem(this.name, error.message),
      );
    }, pause);
  }

  private lastWords(): string {
    const lines = readFileSync(this.options.logFile, 'utf8').trimEnd().split('\n').slice(-15);
    return `The end of ${this.options.logFile}:\n${lines.map((line) => `  ${line.slice(0, 400)}`).join('\n')}`;
  }

  /** Asks it to stop; whoever is still there after the time is killed. Never starts again. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const child = this.process;
    if (child?.pid !== undefined) {
      const pid = child.pid;
      signal(pid, 'SIGTERM');
      if (!(await waitUntil(() => !isRunning(pid), withinMs, 20))) {
        this.options.onProblem(this.name, `did not stop within ${withinMs / 1000} s and was killed`);
        signal(pid, 'SIGKILL');
        signal(this.serverPid, 'SIGQUIT');
        await waitUntil(() => !isRunning(pid), 2_000, 20);
      }
    }
    closeSync(this.log);
  }
}

// One older file is kept; a log never grows past twice the limit over restarts.
function rotate(path: string): void {
  if (!existsSync(path) || statSync(path).size < logKeptBytes) return;
  rmSync(`${path}.1`, { force: true });
  renameSync(path, `${path}.1`);
}
