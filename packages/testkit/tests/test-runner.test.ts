// What makes a test file fail, as Jest reports it with our runner of test files.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const root = resolve(import.meta.dirname, '../../..');
const testRunner = resolve(import.meta.dirname, '../src/jest/test-runner.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-runner-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Report = { numPassedTests: number; numFailedTests: number; numFailedTestSuites: number; success: boolean };

/** Runs a file with this text, and answers what Jest reports. */
function run(name: string, text: string): Report & { output: string } {
  const [file, report, config] = [`${name}.test.mjs`, `${name}.json`, `${name}.config.json`].map((each) =>
    join(folder, each),
  ) as [string, string, string];
  writeFileSync(file, text);
  writeFileSync(config, JSON.stringify({ rootDir: folder, testMatch: [file], transform: {}, testRunner }));
  const args = [jest, '--config', config, '--json', `--outputFile=${report}`, '--watchman=false', '--runInBand'];
  const { stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  return { ...(JSON.parse(readFileSync(report, 'utf8')) as Report), output: stderr };
}

it('passes a file whose tests pass', () => {
  const passed = run('passes', "it('a', () => expect(1).toBe(1)); it('b', async () => {});");
  expect(passed).toMatchObject({ success: true, numPassedTests: 2, numFailedTests: 0 });
});

it.each([
  ['an assertion', "it('a', () => expect(1).toBe(2));", 'Expected: 2'],
  ['a set-up', "beforeAll(() => { throw new Error('no database'); }); it('a', () => {});", 'no database'],
  ['a clean-up', "afterAll(() => { throw new Error('no end'); }); it('a', () => {});", 'no end'],
  ['its own text', "import './missing.mjs'; it('a', () => {});", 'missing.mjs'],
  ['a time limit', "it('a', () => new Promise(() => {}), 50);", 'Exceeded timeout of 50 ms'],
  ['an unhandled rejection', "it('a', () => void Promise.reject(new Error('lost')));", 'lost'],
  ['having no test', 'export {};', 'must contain at least one test'],
])('fails a file for %s', (why, text, words) => {
  const failed = run(why.replaceAll(' ', '-'), text);
  expect(failed).toMatchObject({ success: false, numFailedTestSuites: 1 });
  expect(failed.output).toContain(words);
});
