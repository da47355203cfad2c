// Runs one test file for Jest (its option `testRunner`). Node imports the file and reuses the
// modules that earlier files of the worker have loaded; Jest's own runner evaluates express,
// grpc-js and Prisma again for every file. jest-circus runs the tests: time limits, hooks, `-t` and
// the text of failures are Jest's. Setup files export a function, which is called for each test
// file.
import { flushCompileCache } from 'node:module';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';

const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
const globals = { describe, it, test, beforeAll, beforeEach, afterAll, afterEach, expect: jestExpect };

process.setMaxListeners(0); // each logger that writes to standard output adds one

// How long a server or child process may stay open after the last hook of a file.
const closesWithinMs = 120_000;

/**
 * Runs the tests of the file at `path`. Unhandled rejections, and servers or child processes left
 * open, fail the file, too.
 */
export default async function runTestFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  environment: { global: { console: Console } },
  _runtime: unknown,
  path: string,
): Promise<TestResult> {
  const restore = saveProcessState();
  const open = countOpen();
  const rejections = new Map<Promise<unknown>, unknown>();
  const reject = (reason: unknown, promise: Promise<unknown>) => void rejections.set(promise, reason);
  const handle = (promise: Promise<unknown>) => void rejections.delete(promise);
  process.on('unhandledRejection', reject).on('rejectionHandled', handle);
  circus.resetState();
  const state = circus.getState();
  if (globalConfig.testTimeout) state.testTimeout = globalConfig.testTimeout;
  if (globalConfig.testNamePattern) state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');
  // Jest's console shows the lines of a file under its name.
  Object.assign(globalThis, globals, { console: environment.global.console });
  jestExpect.setState({ testPath: path });
  try {
    for (const file of config.setupFilesAfterEnv) await (await load(file)).default();
    await load(path);
    flushCompileCache(); // a killed worker or service writes none
    const { testResults, unhandledErrors } = await circus.run();
    await nextTurn(); // Node reports a rejection at the end of its turn
    const errors = [...unhandledErrors, ...rejections.values(), ...(await findLeftOpen(open))] as (Error | string)[];
    const results = testResults.map(toAssertionResult);
    const count = (status: AssertionResult['status']) => results.filter((result) => result.status === status).length;
    const failures = [
      formatResultsErrors(results, config, globalConfig, path) ?? '',
      ...errors.map((error) => formatExecError(error, config, globalConfig, path)),
    ];
    return {
      ...createEmptyTestResult(),
      testFilePath: path,
      testResults: results,
      numPassingTests: count('passed'),
      numFailingTests: count('failed'),
      numPendingTests: count('pending'),
      numTodoTests: count('todo'),
      failureMessage: failures.join('\n'),
      ...(errors.length > 0 && { testExecError: { message: '', stack: failures.join('\n') } }),
    };
  } finally {
    process.off('unhandledRejection', reject).off('rejectionHandled', handle);
    restore();
  }
}

const load = (file: string) => import(pathToFileURL(file).href);

function toAssertionResult({ testPath, status, errors, ...result }: Circus.TestResult): AssertionResult {
  const names = testPath.slice(1); // without the root
  const ended = errors.length > 0 ? 'failed' : 'passed';
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1) ?? '',
    fullName: names.join(' '),
    status: status === 'skip' ? 'pending' : status === 'todo' ? 'todo' : ended,
    duration: result.duration,
    failing: result.failing,
    failureDetails: [],
    failureMessages: errors,
    invocations: result.invocations,
    location: result.location,
    numPassingAsserts: result.numPassingAsserts,
    retryReasons: result.retryReasons,
    startAt: result.startedAt,
  };
}

/** Saves the globals, environment and folder of the process; the result restores them. */
function saveProcessState(): () => void {
  const { console, fetch } = globalThis;
  const env = { ...process.env };
  const folder = process.cwd();
  return () => {
    Object.assign(globalThis, { console, fetch });
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.chdir(folder);
  };
}

const kinds = { TCPServerWrap: 'server', PipeServerWrap: 'server', ProcessWrap: 'child process' };
type Open = Record<keyof typeof kinds, number>;

/** How many servers and child processes keep this process alive. */
function countOpen(): Open {
  const open = { TCPServerWrap: 0, PipeServerWrap: 0, ProcessWrap: 0 };
  for (const kind of process.getActiveResourcesInfo()) if (kind in open) open[kind as keyof Open] += 1;
  return open;
}

/** A sentence for each kind of resource of which more are open than `before`, after a wait. */
async function findLeftOpen(before: Open): Promise<string[]> {
  const leftOpen = () => {
    const now = countOpen();
    return (Object.keys(kinds) as (keyof Open)[]).filter((kind) => now[kind] > before[kind]);
  };
  for (const deadline = Date.now() + closesWithinMs; Date.now() < deadline && leftOpen().length > 0; ) await sleep(20);
  return leftOpen().map((kind) => `This test file leaves a ${kinds[kind]} open.`);
}
