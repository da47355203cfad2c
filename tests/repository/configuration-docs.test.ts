import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

describe('docs/how-to/configure.md', () => {
  const page = readFileSync(join(root, 'docs/how-to/configure.md'), 'utf8');
  const files = globSync(['services/*/src/config.ts', 'packages/service-kit/src/config/config.ts'], { cwd: root });

  it.each(files)('names every variable that %s reads', (file) => {
    const names = [...readFileSync(join(root, file), 'utf8').matchAll(/['"]([A-Z]+(?:_[A-Z0-9]+)+)['"]/g)].map(
      (match) => match[1],
    );
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
