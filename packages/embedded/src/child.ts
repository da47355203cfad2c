// One process of the embedded system: started, logged to a file, and restarted with growing delays.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { ConfigError } from '@almanac/service-kit/config/config';
import { configExitCode, type NeededServer, type Report } from '@almanac/service-kit/process/reports';
import { readReason } from './problems/log-reason.ts';
import { isRunning, signal, waitUntil } from './processes.ts';

export type ChildOptions = {
  name: string;
  file: string;
  args?: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  logFile: string;
  /** Called with a problem: an unexpected end, or an error in the log. */
  onProblem(name: string, message: string): void;
  /** Called when process ids change. */
  onChange(): void;
  /** Called with the servers that the process needs and can't use, whenever they change. */
  onUnavailable?(name: string, servers: readonly NeededServer[]): void;
  /** Readiness is a message by IPC unless this check replaces it. */
  isReady?(): Promise<boolean>;
  /** Runs before a restart. */
  beforeRestart?(): Promise<void>;
};

const shortestPauseMs = 200;
// Restart delays stay below the time that a start takes.
const longestPauseMs = 2_000;
const steadyAfterMs = 10_000;
const logKeptBytes = 20 * 1024 * 1024;
const maxFailedStarts = 4; // in a row, before the first "ready"

/** What the process between the supervisor and PostgreSQL reports. */
type ServerReport = { serverPid: number };

export class Child {
  readonly name: string;
  ready = false;
  /** The process id of the server behind a guard, if any. */
  serverPid: number | undefined;
  private readonly options: ChildOptions;
  /** The process writes to it directly, so that its last lines survive a killed supervisor. */
  private readonly log: number;
  private process: ChildProcess | undefined;
  private stopping = false;
  private failures = 0;
  private wasEverReady = false;
  private timer: NodeJS.Timeout | undefined;
  private giveUp: ((error: Error) => void) | undefined;
  private problems: string[] = [];
  /** Where the output of the present process begins in its log. */
  private logBegin = 0;
  private onConfigured: () => void = () => {};
  private readonly configured = new Promise<void>((done) => {
    this.onConfigured = done;
  });

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.options = options;
    rotate(options.logFile);
    this.log = openSync(options.logFile, 'a', 0o600);
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /**
   * Starts the process and waits until it is ready. Throws a ConfigError when its configuration
   * keeps it from starting, and the reason from its log when it keeps failing.
   */
  start(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        this.giveUp?.(new Error(`${this.name} was not ready after ${timeoutMs / 1000} s. ${this.whatTheLogSays()}`));
      }, timeoutMs);
      this.giveUp = (error) => {
        this.giveUp = undefined;
        clearTimeout(deadline);
        this.onConfigured();
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

  /**
   * The sentences about its configuration that its process reports; none when it can run. Resolves
   * early in a start, long before the process is ready.
   */
  async configProblems(): Promise<string[]> {
    await this.configured;
    return this.problems;
  }

  private spawn(): void {
    const { file, args = [], cwd, env, isReady } = this.options;
    const startedAt = performance.now();
    this.logBegin = statSync(this.options.logFile).size;
    // Its own process group: Ctrl-C reaches the supervisor alone, which stops everything in order.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
      cwd,
      env,
      stdio: ['ignore', this.log, this.log, 'ipc'],
      detached: process.platform !== 'win32',
    });
    this.process = child;
    child.on('message', (message) => this.receive(child, message as Report | ServerReport));
    child.on('error', (error) => writeSync(this.log, `${error.message}\n`));
    child.once('exit', (code, signalName) => {
      const ended = () => this.ended(child, startedAt, code, signalName ?? `code ${code}`);
      // Its last reports may arrive after its exit.
      if (child.connected) child.once('disconnect', ended);
      else ended();
    });
    this.options.onChange();
    if (isReady)
      void waitUntil(async () => this.process !== child || (await isReady()), 60_000).then((isUp) => {
        if (isUp) this.markReady(child);
      });
  }

  private receive(child: ChildProcess, report: Report | ServerReport): void {
    if (report === 'ready') this.markReady(child);
    else if ('unavailable' in report) this.options.onUnavailable?.(this.name, report.unavailable);
    else if ('configProblems' in report) {
      this.problems = report.configProblems;
      this.onConfigured();
    } else {
      this.serverPid = report.serverPid;
      this.options.onChange();
    }
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

  private ended(child: ChildProcess, startedAt: number, code: number | null, how: string): void {
    if (this.process !== child) return;
    this.process = undefined;
    this.ready = false;
    this.options.onChange();
    if (this.stopping) return;
    this.options.onUnavailable?.(this.name, []);
    if (this.giveUp && code === configExitCode) {
      this.stopping = true;
      this.giveUp(new ConfigError(this.problems));
      return;
    }
    this.failures = performance.now() - startedAt > steadyAfterMs ? 1 : this.failures + 1;
    if (this.giveUp && this.failures >= maxFailedStarts) {
      this.stopping = true;
      this.giveUp(new Error(`${this.name} does not start (${how}). ${this.whatTheLogSays()}`));
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

  private whatTheLogSays(): string {
    const { logFile } = this.options;
    const reason = readReason(readFileSync(logFile).subarray(this.logBegin).toString());
    return `${reason ? `${reason} ` : ''}Its log: ${logFile}`;
  }

  /** Stops the process without a restart, and kills it after the time-out. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    this.onConfigured();
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

  /** Kills the process at once. PostgreSQL recovers at its next start. */
  kill(): void {
    this.stopping = true;
    clearTimeout(this.timer);
    signal(this.serverPid, 'SIGQUIT');
    signal(this.process?.pid, 'SIGKILL');
  }
}

// Keeps one older file, so that a log never exceeds twice the limit over restarts.
function rotate(path: string): void {
  if (!existsSync(path) || statSync(path).size < logKeptBytes) return;
  rmSync(`${path}.1`, { force: true });
  renameSync(path, `${path}.1`);
}
