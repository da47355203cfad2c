import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readInvocation } from './commands.ts';

const root = resolve(import.meta.dirname, '../../..');
const said = globSync(['README.md', 'docs/**/*.md', 'packages/*/README.md', 'services/*/README.md'], {
  cwd: root,
}).flatMap((page) =>
  [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      /(?:npm run -s admin --|run --rm operator|exec deployment\/operator -- node scripts\/admin\.ts) ([^`\n#]+)/g,
    ),
  ]
    .map((match) => (match[1] as string).replace(/\s[<>]\s.*/, '').trim()) // what a shell takes for itself is no word
    .filter((line) => !/[…A-Z]{4,}|…/.test(line.replace(/\S+@\S+/g, ''))) // places to fill in
    .map((line) => [page, line] as const),
);

describe("the operators' commands in the documentation", () => {
  it('are found', () => expect(said.length).toBeGreaterThan(10));

  it.each(said)('%s: %s', (_page, line) => {
    expect(() => readInvocation(line.split(/\s+/))).not.toThrow();
  });
});
