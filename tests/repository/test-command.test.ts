// The answers of `npm test`, run as its users run it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { processesIn } from '@almanac/testkit/processes/run-processes';

const root = resolve(import.meta.dirname, '../..');

function npmTest(...args: string[]) {
  const { ALMANAC_TEST_S3_URL: _store, ...env } = process.env;
  const run = spawnSync(process.execPath, [join(root, 'scripts/test.ts'), ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  return { code: run.status, output: run.stdout + run.stderr };
}

it.each([
  ['unit', 'scripts/no-such-file.test.ts'],
  ['real', 'tests/faults/no-such-file.real.test.ts'],
])('fails when no test of %s matches', (part, path) => {
  expect(npmTest('--part', part, path)).toMatchObject({
    code: 1,
    output: expect.stringContaining(`No test of ${part} matches: ${path}`),
  });
});

it('runs a part that is left out by default when it is named', () => {
  const { code, output } = npmTest('--part', 'real', 'tests/faults/killed-servers.real.test.ts');
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringContaining('ALMANAC_TEST_S3_URL is missing'),
  });
});

const script = [process.execPath, join(root, 'scripts/test.ts')];
const npm = ['npm', 'test', '--'];
it.each([
  ['SIGINT', 'the script', script, [130, null]],
  ['SIGTERM', 'the script', script, [143, null]],
  // npm ends at once, and its shell with it.
  ['SIGTERM', 'npm', npm, expect.anything()],
] as const)(
  'ends everything and starts no further part after %s to %s',
  async (signal, _, [program, ...words], ending) => {
    const folder = mkdtempSync(join(tmpdir(), 'almanac-interrupted-'));
    const file = 'services/data/tests/pages/grid.test.ts';
    const run = spawn(program as string, [...words, '--part', 'service', '--part', 'slow', file], {
      cwd: root,
      env: { ...process.env, TMPDIR: folder, ALMANAC_TEST_POSTGRES_URL: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (output += chunk));
    try {
      // The server of the tests runs, and a database of theirs is being used.
      const files = () => readdirSync(folder, { recursive: true, encoding: 'utf8' });
      await eventually(() => expect(files().join('\n')).toMatch(/postmaster\.pid$/m));
      run.kill(signal);
      expect(await once(run, 'close')).toEqual(ending);
      expect(output).toContain('── service ──');
      expect(output).not.toContain('── slow ──');
      expect(output).not.toContain('passed,');
      expect(processesIn(folder)).toEqual([]);
      expect(readdirSync(folder).filter((name) => name !== 'almanac-jest')).toEqual([]);
    } finally {
      run.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
