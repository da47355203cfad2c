// `npm test` runs the everyday loop, `npm run test:all` every test that needs only Node, and
// `npm test -- --part NAME,NAME` these parts. Other words after `--` are arguments of Jest; without
// `--part`, they select from all tests that need only Node: `npm test -- services/data -t history`.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { readJson } from '@almanac/embedded/home';
import { signal } from '@almanac/embedded/processes';
import { endProcessesIn } from '@almanac/testkit/processes/run-processes';
import { compiledCode } from '@almanac/testkit/processes/service-process';
import { onNpmEnd } from './dev/npm-end.ts';

const root = resolve(import.meta.dirname, '..');
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

type Counts = {
  suites: number;
  failedSuites: number;
  passed: number;
  failed: number;
  seconds: number;
  failures: string[];
};
/** What `--json` of Jest writes, of which this is read. */
type Report = Record<'numTotalTestSuites' | 'numFailedTestSuites' | 'numPassedTests' | 'numFailedTests', number> & {
  testResults: {
    name: string;
    status: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

// A worker and its share of PostgreSQL keep about one core busy. More than six could need more
// connections than the cluster has.
const mostWorkers = Math.min(6, Math.max(2, availableParallelism()));
/**
 * The number of workers of each part. The files of a part share one system, and some of them break
 * parts of it, so such parts run one file at a time.
 */
const parts = {
  unit: mostWorkers,
  repository: mostWorkers,
  service: mostWorkers,
  slow: mostWorkers,
  contract: 1,
  'main-job': 1,
  acceptance: 1,
  security: 1,
  faults: 1,
  console: 1,
  real: 1,
  images: 1,
  skew: 1,
  compose: 1,
  cluster: 1,
};
type Part = keyof typeof parts;
/** Parts that share workers, PostgreSQL and a system; the summary has a line for each run. */
type Run = Part[];
const everyday: Run[] = [
  ['unit', 'repository', 'service'],
  ['contract', 'main-job'],
];
const all: Run[] = [
  ['unit', 'repository', 'service', 'slow'],
  ['contract', 'acceptance', 'security', 'faults'],
];

/** The exit code after each signal, as shells expect it. */
const interruptions = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const { chosen, words } = readArguments(process.argv.slice(2));
const results = new Map<string, Counts>();
let running: ReturnType<typeof spawn> | undefined;
let interruptedBy: keyof typeof interruptions | undefined;

// Far more than the longest part takes on a slow machine: a longer run hangs.
const partWithinMs = 90 * 60_000;
// A part is over when its report is written; an open handle must not keep the process alive.
const exitsWithinMs = 60_000;

for (const name of Object.keys(interruptions) as (keyof typeof interruptions)[])
  process.on(name, () => interrupt(name, name));
onNpmEnd(() => interrupt('SIGTERM', 'the end of npm'));

for (const run of chosen) {
  if (interruptedBy) break;
  const name = run.join(', ');
  console.log(`\n── ${name} ──`);
  results.set(name, await runParts(run, words));
}
if (interruptedBy) process.exitCode = interruptions[interruptedBy];
else summarize(results);

function interrupt(name: keyof typeof interruptions, why: string): void {
  if (interruptedBy) return; // npm passes on what a terminal has sent here as well
  interruptedBy = name;
  console.error(`\nInterrupted by ${why}; ending what runs …`);
  running?.kill(name);
}

function readArguments(args: string[]): { chosen: Run[]; words: string[] } {
  const named: Run[] = [];
  const words: string[] = [];
  let isAll = false;
  for (let place = 0; place < args.length; place++) {
    if (args[place] === '--all') isAll = true;
    else if (args[place] !== '--part') words.push(args[place] as string);
    else named.push(readRun(args[++place]));
  }
  if (named.length > 0) return { chosen: named, words };
  return { chosen: isAll || words.length > 0 ? all : everyday, words };
}

function readRun(names = ''): Run {
  const run = names.split(',');
  if (run.every((name) => name in parts)) return run as Run;
  console.error(`--part should be one of ${Object.keys(parts).join(', ')}, or several with commas between them.`);
  process.exit(2);
}

async function runParts(run: Run, words: string[]): Promise<Counts> {
  // Everything temporary is in here, and the processes of the run are found by it. PostgreSQL may
  // run as another user, which has to pass through.
  const folder = mkdtempSync(join(tmpdir(), 'almanac-test-'));
  chmodSync(folder, 0o711);
  const outputFile = join(folder, 'result.json');
  const begun = performance.now();
  try {
    const workers = Math.min(...run.map((part) => parts[part]));
    const code = await runJest(run.join(', '), folder, outputFile, [
      ...[
        '--cacheDirectory',
        join(tmpdir(), 'almanac-jest'),
        '--selectProjects',
        ...run,
        '--json',
        `--outputFile=${outputFile}`,
        '--passWithNoTests',
      ],
      ...[workers === 1 ? '--runInBand' : `--maxWorkers=${workers}`, ...words],
    ]);
    const report = readJson<Report>(outputFile);
    const counts = {
      suites: report?.numTotalTestSuites ?? 0,
      failedSuites: report?.numFailedTestSuites ?? 0,
      passed: report?.numPassedTests ?? 0,
      failed: report?.numFailedTests ?? 0,
      seconds: (performance.now() - begun) / 1000,
      failures: failuresOf(report),
    };
    // A file that fails to load, or a failing set-up, has no failed test, but counts as one.
    if (code !== 0 && counts.failed === 0) counts.failed = Math.max(1, counts.failedSuites);
    return counts;
  } finally {
    await endProcessesIn(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The failed tests, each with its file and why; else the file that failed outside its tests. */
function failuresOf(report: Report | undefined): string[] {
  return (report?.testResults ?? []).flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [file];
    return failed.map(({ fullName, failureMessages }) => `${file}: ${fullName}: ${inOneLine(failureMessages[0])}`);
  });
}

/** The beginning of a message without its colours, so that a list of failures has a line each. */
function inOneLine(message = ''): string {
  return stripVTControlCharacters(message).replace(/\s+/g, ' ').slice(0, 500);
}

/** Answers Jest's exit code; 1 if it had to be killed. */
function runJest(name: string, folder: string, outputFile: string, args: string[]): Promise<number> {
  return new Promise((done) => {
    const jestProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', jest, ...args], {
      cwd: root,
      env: {
        ...process.env,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        NODE_COMPILE_CACHE: compiledCode(),
        TMPDIR: folder,
      },
      // Its own process group: Ctrl-C reaches this process alone, which ends everything in order.
      detached: process.platform !== 'win32',
      stdio: ['inherit', 'ignore', 'inherit'], // the report goes to its file, Jest's output to stderr
    });
    running = jestProcess;
    const kill = (why: string) => {
      console.error(`The tests of ${name} ${why}; they were killed.`);
      jestProcess.kill('SIGKILL');
    };
    const begun = performance.now();
    let reportedAt: number | undefined;
    const watch = setInterval(() => {
      if (reportedAt === undefined && existsSync(outputFile)) reportedAt = performance.now();
      if (reportedAt !== undefined && performance.now() - reportedAt > exitsWithinMs)
        kill('did not exit after their report');
      else if (performance.now() - begun > partWithinMs) kill(`took longer than ${partWithinMs / 60_000} minutes`);
    }, 1_000);
    jestProcess.once('exit', (code) => {
      clearInterval(watch);
      // Its workers, if it was killed.
      if (interruptedBy && process.platform !== 'win32') endGroup(jestProcess.pid);
      done(code ?? 1);
    });
  });
}

function endGroup(leader: number | undefined): void {
  if (leader !== undefined) signal(-leader, 'SIGKILL');
}

function summarize(results: Map<string, Counts>): void {
  const total = { passed: 0, failed: 0 };
  console.log('');
  for (const [name, { suites, failedSuites, passed, failed, seconds }] of results) {
    total.passed += passed;
    total.failed += failed;
    const files = `${suites} files${failedSuites > 0 ? ` (${failedSuites} failed)` : ''}`;
    console.log(
      `${failed > 0 ? '✗' : '✓'} ${name}: ${passed} passed, ${failed} failed in ${files}, ${seconds.toFixed(1)} s`,
    );
  }
  for (const { failures } of results.values()) for (const failure of failures) console.log(`Failed: ${failure}`);
  console.log('');
  console.log(`${total.passed} passed, ${total.failed} failed`);
  const nothingRan = total.passed + total.failed === 0;
  if (nothingRan) console.error(`No test of ${[...results.keys()].join(', ')} matches: ${words.join(' ')}`);
  process.exitCode = nothingRan || total.failed > 0 ? 1 : 0;
}
