// A folder of code holds so few files that its list can be read at a glance.
import { execFileSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const maxFiles = 15;

it('has at most fifteen files in a folder of code', () => {
  const places = ['packages', 'services', 'scripts', 'tests'];
  const tracked = execFileSync('git', ['ls-files', ...places], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const code = tracked.filter((path) => /[.](?:ts|js|sh|py)$/.test(path));
  expect(code.length).toBeGreaterThan(800);
  const folders = Map.groupBy(code, dirname);
  const large = [...folders].filter(([, files]) => files.length > maxFiles).map(([folder]) => folder);
  expect(large).toEqual([]);
});
