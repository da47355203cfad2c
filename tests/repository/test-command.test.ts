// The answers of `npm test`, run as its users run it.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

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
